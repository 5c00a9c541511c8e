"""Traced graphs compute what torch does, pads and all; those that do not are found out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import onnx
import pytest
import torch
from torch import nn

from service.errors import BundleError
from training.encoders.pyramid import PyramidEncoder
from training.encoders.recurrent import RecurrentEncoder, blstm_layers, token_vectors
from training.encoders.states import SentenceEncoder
from training.encoders.transformer import (
    TokenEmbedding,
    TransformerEncoder,
    TransformerLayer,
    make_layer,
)
from training.export import PARITY, Tower, check_parity
from training.graphs.traced import traced_graph
from training.sentence_vectors import FirstState, MaxPooling, MeanPooling

VOCABULARY, WIDTH = 40, 16


def one_layer() -> TransformerLayer:
    return make_layer(WIDTH, heads=4, inner=24, dropout=0.1, norm_first=True)


def transformer(*, first_token: bool) -> TransformerEncoder:
    return TransformerEncoder(
        TokenEmbedding(VOCABULARY, WIDTH),
        [one_layer(), one_layer()],
        width=WIDTH,
        dropout=0.1,
        first_token=first_token,
    )


def t_mde() -> SentenceEncoder:
    return SentenceEncoder(transformer(first_token=True), FirstState())


def t_mde_p() -> SentenceEncoder:
    pyramid = PyramidEncoder(transformer(first_token=True), one_layer())
    return SentenceEncoder(pyramid, FirstState())


def mean_of_transformer() -> SentenceEncoder:
    return SentenceEncoder(transformer(first_token=False), MeanPooling())


def tower(encoder: SentenceEncoder, graph: bytes) -> Tower:
    return Tower(
        graph=graph,
        reference=encoder.eval().rectangle,
        tokenizer=b"",
        tokenizer_kind="sentencepiece",
        vocabulary=VOCABULARY,
    )


@pytest.mark.parametrize("make", [t_mde, t_mde_p, mean_of_transformer])
def test_traced_graphs(make: Callable[[], SentenceEncoder]) -> None:
    torch.manual_seed(0)
    encoder = make()
    graph = traced_graph(encoder)
    assert check_parity(tower(encoder, graph), WIDTH) < PARITY
    for node in onnx.load_from_string(graph).graph.input:
        assert [axis.dim_param for axis in node.type.tensor_type.shape.dim] == ["batch", "tokens"]


def test_a_traced_recurrent_encoder_is_found_out(tmp_path: Path) -> None:
    """What `traced_graph` is not for: the check, not the reader's care, has to catch it."""

    class Unpacked(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.encoder = SentenceEncoder(
                RecurrentEncoder(token_vectors(VOCABULARY, 8), blstm_layers(8, WIDTH // 2, 1)),
                MaxPooling(),
            )

        def rectangle(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
            tokens = self.encoder.tokens
            assert isinstance(tokens, RecurrentEncoder)
            states = tokens.layers[0](tokens.embedding(ids))[0]
            masked = states.masked_fill(~mask[:, :, None], -10.0)
            return torch.where(mask.any(1, keepdim=True), masked.amax(1), 0.0)

    module = Unpacked().eval()
    graph = traced_graph(module)  # type: ignore[arg-type]
    with pytest.raises(BundleError, match="differs from torch"):
        check_parity(tower(module.encoder, graph), WIDTH)
