"""Weights read back from a graph are those that it was made of."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch

from training.e5 import empty_body
from training.encoders.bert import BertBody
from training.encoders.product_vectors import product_vectors
from training.encoders.settled import SettledLayers
from training.graphs.additive import additive_graph
from training.graphs.compressed import compressed_graph, round_weights
from training.graphs.reread import reread
from training.graphs.static import store
from training.graphs.traced import traced_graph
from training.rounding import keep_rounded, leave_rounded

VOCABULARY, WIDTH, PARTS = 600, 384, 96


def make(body: BertBody | None = None) -> SettledLayers:
    torch.manual_seed(0)
    made = body or empty_body()
    made.places = torch.nn.Parameter(torch.zeros(200, WIDTH))
    for weight in made.parameters():
        torch.nn.init.normal_(weight, std=0.05)  # biases too: no two of them alike
    vectors = np.random.default_rng(0).standard_normal((VOCABULARY, WIDTH)).astype(np.float32)
    read = product_vectors(vectors, np.ones(VOCABULARY, dtype=np.int64), parts=PARTS, seed=0)
    layers = SettledLayers(read, made, torch.randn(2, WIDTH)).eval()
    torch.nn.init.normal_(layers.map.weight)
    return layers


def settle(layers: SettledLayers) -> None:
    keep_rounded(layers.body)
    leave_rounded(layers.body)


def stored(layers: SettledLayers) -> bytes:
    """Round `layers` to what is stored of them, and return their graph."""
    round_weights(layers)
    return compressed_graph(traced_graph(layers))


@pytest.mark.slow
@pytest.mark.parametrize("bits", [4, 8])
def test_every_weight_comes_back(bits: int) -> None:
    layers = make()
    if bits == 4:
        settle(layers)
    found = reread(stored(layers))
    due = dict(layers.named_parameters()) | dict(layers.named_buffers())
    for name, weight in (*found.named_parameters(), *found.named_buffers()):
        torch.testing.assert_close(weight, due[name], atol=1e-6, rtol=0, msg=name)


@pytest.mark.slow
def test_a_table_that_four_bits_hold_comes_back() -> None:
    layers = make()
    places = layers.body.places
    with torch.no_grad():
        places.copy_(torch.from_numpy(store(places.numpy(), "int4").widened()))
    found = reread(stored(layers))
    torch.testing.assert_close(found.body.places, places, atol=1e-6, rtol=0)


@pytest.mark.slow
def test_weights_in_four_bits_are_rounded_to_themselves() -> None:
    layers = make()
    settle(layers)
    found = reread(stored(layers))
    before = copy.deepcopy(found.state_dict())
    settle(found)
    for name, weight in found.state_dict().items():
        torch.testing.assert_close(weight, before[name], msg=name)


def test_a_graph_of_another_encoder_is_refused() -> None:
    smaller = BertBody(layers=2, width=WIDTH, heads=12, inner=4 * WIDTH, longest=200)
    with pytest.raises(ValueError, match="weights where"):
        reread(stored(make(smaller)))
    narrow = BertBody(layers=12, width=WIDTH, heads=12, inner=64, longest=200)
    with pytest.raises(ValueError, match=r"\[64, 384\] where \[1536, 384\] is due"):
        reread(stored(make(narrow)))
    table = np.zeros((9, WIDTH), dtype=np.float32)
    with pytest.raises(ValueError, match=r"nothing that is named \.read\.codes"):
        reread(additive_graph(table))
