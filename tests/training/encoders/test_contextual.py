"""Static vectors under layers: both parts, pads, order, and the two ways to compute them."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn import functional

from training.data.batches import Sentences
from training.encoders.bert import BertBody
from training.encoders.contextual import ContextualEncoder
from training.encoders.token_network import TokenNetwork

VOCABULARY, WIDTH = 30, 16


@pytest.fixture
def encoder() -> ContextualEncoder:
    torch.manual_seed(0)
    body = BertBody(layers=2, width=WIDTH, heads=4, inner=24, longest=12)
    torch.nn.init.normal_(body.places)
    network = TokenNetwork(WIDTH, 20)
    return ContextualEncoder(torch.randn(VOCABULARY, WIDTH), network, body)


def sentences(*rows: list[int]) -> Sentences:
    flat = torch.tensor([i for row in rows for i in row], dtype=torch.int64)
    return Sentences(flat, torch.tensor(list(map(len, rows))))


def test_it_is_the_layers_mean_beside_the_static_sum(encoder: ContextualEncoder) -> None:
    ids = [4, 9, 4]
    read = encoder.network(encoder.table[ids])
    expected = functional.normalize(encoder.body(read[None])[0].mean(0), dim=0)
    expected = expected + functional.normalize(encoder.table[ids].sum(0), dim=0)
    with torch.no_grad():
        np.testing.assert_allclose(encoder(sentences(ids))[0], expected, atol=1e-5)


def test_the_static_half_counts_as_much_as_is_asked(encoder: ContextualEncoder) -> None:
    layers, static = encoder.halves(sentences([4, 9, 4]))
    encoder.static_weight = 2.5
    with torch.no_grad():
        np.testing.assert_allclose(encoder(sentences([4, 9, 4])), layers + 2.5 * static, atol=1e-5)


def test_pads_change_nothing(encoder: ContextualEncoder) -> None:
    rows = [[4, 9, 4], [7], [1, 2, 3, 4, 5, 6, 7]]
    with torch.inference_mode():
        together = encoder(sentences(*rows))
        for row, vector in zip(rows, together, strict=True):
            np.testing.assert_allclose(encoder(sentences(row))[0], vector, atol=1e-5)


def test_order_counts(encoder: ContextualEncoder) -> None:
    with torch.inference_mode():
        one, other = encoder(sentences([4, 9, 5], [5, 9, 4]))
    assert (one - other).abs().max() > 1e-3


def test_only_rows_of_the_batch_have_a_gradient(encoder: ContextualEncoder) -> None:
    encoder(sentences([4, 9, 4], [7])).sum().backward()
    assert encoder.table.grad is not None
    assert encoder.table.grad.is_sparse
    rows = encoder.table.grad.coalesce().indices()[0]
    assert {4, 7, 9} <= set(rows.tolist()) <= {0, 4, 7, 9}


def test_a_sentence_without_tokens_has_a_vector(encoder: ContextualEncoder) -> None:
    with torch.inference_mode():
        vectors = encoder(sentences([4, 9], []))
    assert torch.isfinite(vectors).all()
