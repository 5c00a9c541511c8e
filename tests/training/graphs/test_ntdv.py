"""The graph of an NTDV encoder computes what torch does, pads and all."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from training.encoders.ntdv import ContextHeads, NtdvStates, SumOfHeads
from training.encoders.recurrent import RecurrentEncoder, token_vectors
from training.encoders.states import SentenceEncoder
from training.export import PARITY, Tower, check_parity
from training.graphs.ntdv import ntdv_graph
from training.sentence_vectors import MeanPooling

VOCABULARY, WIDTH = 40, 16


@pytest.mark.parametrize("summed", [True, False])
def test_ntdv_graphs(summed: bool) -> None:
    torch.manual_seed(0)
    layer = nn.GRU(8, WIDTH, batch_first=True, bidirectional=True)
    frozen = RecurrentEncoder(token_vectors(VOCABULARY, 8), [layer])
    tokens = NtdvStates(frozen, nn.GRU(2 * WIDTH, WIDTH, batch_first=True), ContextHeads(WIDTH, 4))
    pooling: nn.Module = SumOfHeads(MeanPooling(), 4) if summed else MeanPooling()
    encoder = SentenceEncoder(tokens, pooling)
    dimension = WIDTH if summed else 4 * WIDTH
    graph = ntdv_graph(encoder, dimension=dimension)
    tower = Tower(
        graph=graph,
        reference=encoder.eval().rectangle,
        tokenizer=b"",
        tokenizer_kind="sentencepiece",
        vocabulary=VOCABULARY,
    )
    assert check_parity(tower, dimension) < PARITY
