"""Weights read back from a graph are those that it was made of."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch
from torch import nn

from training.encoders.bert import BertBody
from training.encoders.beside import Beside
from training.encoders.mapped import Mapped
from training.encoders.product_vectors import ProductVectors, product_vectors
from training.encoders.settled import SettledLayers
from training.graphs.beside import beside_graph
from training.graphs.reread import reread
from training.rounding import keep_rounded, leave_rounded

VOCABULARY, BESIDE, WIDTH, PARTS = 600, 300, 192, 48


def make(layers: int = 2) -> Beside:
    torch.manual_seed(0)
    body = BertBody(layers=layers, width=WIDTH, heads=4, inner=256, longest=200)
    for weight in body.parameters():
        torch.nn.init.normal_(weight)  # biases too: no two of them alike
    random = np.random.default_rng(0)
    vectors = random.standard_normal((VOCABULARY, WIDTH)).astype(np.float32)
    read = product_vectors(vectors, np.ones(VOCABULARY, dtype=np.int64), parts=PARTS, seed=0)
    mapped = Mapped(
        SettledLayers(read, body), random.standard_normal((WIDTH, WIDTH)).astype(np.float32)
    )
    return Beside(mapped, torch.randn(BESIDE, WIDTH), weight=1.0).eval()


def empty(layers: int = 2) -> Beside:
    body = BertBody(layers=layers, width=WIDTH, heads=4, inner=256, longest=200)
    read = ProductVectors.empty(VOCABULARY, WIDTH, PARTS)
    mapped = Mapped(SettledLayers(read, body), np.zeros((WIDTH, WIDTH), dtype=np.float32))
    return Beside(mapped, torch.zeros(BESIDE, WIDTH), weight=1.0).eval()


@pytest.mark.parametrize("bits", [4, 8])
def test_every_weight_comes_back(bits: int) -> None:
    stored = make()
    if bits == 4:
        keep_rounded(stored)
        leave_rounded(stored)
    graph = beside_graph(stored, "int4")  # rounds `stored` to what the graph computes with
    found = empty()
    reread(found, graph)
    due = dict(stored.named_parameters()) | dict(stored.named_buffers())
    for name, weight in (*found.named_parameters(), *found.named_buffers()):
        torch.testing.assert_close(weight, due[name], atol=1e-6, rtol=0, msg=name)


def test_weights_in_four_bits_are_rounded_to_themselves() -> None:
    stored = make()
    keep_rounded(stored)
    leave_rounded(stored)
    found = empty()
    reread(found, beside_graph(stored, "int4"))
    before = copy.deepcopy(found.state_dict())
    keep_rounded(found)
    leave_rounded(found)
    for name, weight in found.state_dict().items():
        torch.testing.assert_close(weight, before[name], msg=name)


def test_a_graph_of_another_encoder_is_refused() -> None:
    graph = beside_graph(make(), "int4")
    with pytest.raises(ValueError, match="weights where"):
        reread(empty(layers=1), graph)
    smaller = empty()
    smaller.table = nn.Parameter(torch.zeros(BESIDE, WIDTH))
    with pytest.raises(ValueError, match=r"\[301, 192\] where \[300, 192\] is due"):
        reread(smaller, graph)
    with pytest.raises(ValueError, match="not in 4 bits"):
        reread(empty(), beside_graph(make(), "fp32"))
