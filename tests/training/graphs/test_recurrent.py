"""Graphs of LSTM encoders: torch and ONNX Runtime on padded batches of unequal lengths."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
import torch
from torch import nn

from service.bundle.graph_builder import GraphBuilder
from service.inference.onnx_session import EncoderSession
from training.encoders.recurrent import RecurrentEncoder, blstm_layers, lstm_layers, token_vectors
from training.encoders.states import SentenceEncoder
from training.export import PARITY, Tower, check_parity
from training.graphs.pooling import pool
from training.graphs.recurrent import recurrent_graph
from training.sentence_vectors import LastState, MaxPooling, MeanPooling, SelfAttention


def make(kind: str) -> tuple[SentenceEncoder, int]:
    torch.manual_seed(4)
    stacks: dict[str, tuple[list[nn.LSTM], nn.Module, int]] = {
        "lstm, last": (lstm_layers(12, 16, 3), LastState(), 16),
        "blstm, max": (blstm_layers(12, 8, 2), MaxPooling(), 16),
        "blstm + lstm, mean": (
            [*blstm_layers(12, 8, 1), *lstm_layers(16, 10, 1)],
            MeanPooling(),
            10,
        ),
        "blstm, attention": (blstm_layers(12, 8, 1), SelfAttention(16, inner=6, hops=2), 32),
    }
    layers, pooling, dimension = stacks[kind]
    tokens = RecurrentEncoder(token_vectors(40, 12), layers, dropout=0.5)
    for parameter in tokens.parameters():  # far from 0, so that a wrong pad shows
        nn.init.normal_(parameter, std=0.5)
    return SentenceEncoder(tokens, pooling).eval(), dimension


KINDS = ("lstm, last", "blstm, max", "blstm + lstm, mean", "blstm, attention")


def tower(encoder: SentenceEncoder, graph: bytes) -> Tower:
    return Tower(
        graph=graph,
        reference=encoder.rectangle,
        tokenizer=b"",
        tokenizer_kind="sentencepiece",
        vocabulary=40,
    )


@pytest.mark.parametrize("kind", KINDS)
def test_the_graph_computes_what_torch_does(kind: str) -> None:
    encoder, dimension = make(kind)
    graph = recurrent_graph(encoder, dimension=dimension)
    assert check_parity(tower(encoder, graph), dimension) < PARITY / 10


@pytest.mark.parametrize("kind", KINDS)
def test_a_sentence_alone_and_in_a_batch_has_one_vector(kind: str, tmp_path: Path) -> None:
    encoder, dimension = make(kind)
    path = tmp_path / "encoder.onnx"
    path.write_bytes(recurrent_graph(encoder, dimension=dimension))
    session = EncoderSession(path, dimension=dimension)
    ids = np.random.default_rng(0).integers(0, 40, (5, 20))
    lengths = np.array([20, 1, 7, 13, 2])
    mask = (np.arange(20) < lengths[:, None]).astype(np.int64)
    together = session.run({"ids": ids, "mask": mask})
    for row, length in enumerate(lengths):
        part = {"ids": ids[row : row + 1, :length], "mask": mask[row : row + 1, :length]}
        np.testing.assert_allclose(session.run(part)[0], together[row], atol=1e-5)


def test_without_the_lengths_a_backward_layer_would_be_wrong() -> None:
    """The fault that the lengths are there for: it must show in the parity check."""
    encoder, dimension = make("blstm, max")
    model = onnx.load_from_string(recurrent_graph(encoder, dimension=dimension))
    for node in model.graph.node:
        if node.op_type == "LSTM":
            node.input[4] = ""
    broken = tower(encoder, model.SerializeToString())
    with pytest.raises(Exception, match="differs from torch"):
        check_parity(broken, dimension)


def test_a_sentence_vector_without_a_graph_is_a_bug() -> None:
    with pytest.raises(TypeError, match="Linear"):
        pool(nn.Linear(2, 2), GraphBuilder(), "states")
