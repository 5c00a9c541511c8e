"""Compressed graphs: smaller, and the same numbers as torch with the rounded weights."""

from __future__ import annotations

import copy

import numpy as np
import onnx
import pytest
import torch
from onnx import TensorProto

from training.encoders.bert import BertBody
from training.encoders.contextual import ContextualEncoder
from training.encoders.token_network import TokenNetwork
from training.export import PARITY, Tower, check_parity
from training.graphs.compressed import compressed_graph, round_weights
from training.graphs.static import store
from training.graphs.traced import traced_graph

VOCABULARY, WIDTH = 600, 128


@pytest.fixture(scope="module")
def encoder() -> ContextualEncoder:
    torch.manual_seed(0)
    body = BertBody(layers=2, width=WIDTH, heads=4, inner=512, longest=256)
    torch.nn.init.normal_(body.places)
    network = TokenNetwork(WIDTH, 300)
    return ContextualEncoder(torch.randn(VOCABULARY, WIDTH), network, body).eval()


def test_it_computes_with_the_rounded_weights(encoder: ContextualEncoder) -> None:
    rounded = copy.deepcopy(encoder)
    table = store(rounded.table.detach().numpy(), "int4")
    round_weights(rounded)
    rounded.table = torch.nn.Parameter(torch.from_numpy(table.widened()))
    full = traced_graph(rounded)
    graph = compressed_graph(full, table=table)
    tower = Tower(
        graph=graph,
        reference=rounded.rectangle,
        tokenizer=b"",
        tokenizer_kind="sentencepiece",
        vocabulary=VOCABULARY,
    )
    assert check_parity(tower, WIDTH) < PARITY
    assert len(graph) < len(full) / 3.2
    large = [
        w for w in onnx.load_from_string(graph).graph.initializer if np.prod(w.dims) >= 1 << 15
    ]
    assert {w.data_type for w in large} <= {TensorProto.INT8, TensorProto.UINT8}
    ids, mask = torch.randint(0, VOCABULARY, (3, 9)), torch.ones(3, 9, dtype=torch.bool)
    with torch.inference_mode():
        before, after = encoder.rectangle(ids, mask), rounded.rectangle(ids, mask)
    assert float(torch.cosine_similarity(before, after).min()) > 0.99


def test_rounding_twice_is_rounding_once(encoder: ContextualEncoder) -> None:
    once = copy.deepcopy(encoder)
    round_weights(once)
    twice = copy.deepcopy(once)
    round_weights(twice)
    weights = dict(twice.named_parameters())
    for name, weight in once.named_parameters():
        torch.testing.assert_close(weight, weights[name], rtol=1e-6, atol=1e-9)
    assert not torch.equal(once.body.places, encoder.body.places)
    # Biases are small, and stay as they are.
    assert torch.equal(once.network.up.bias, encoder.network.up.bias)
