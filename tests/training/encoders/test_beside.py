"""Static vectors of a second vocabulary beside an encoder."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn import functional

from training.data.batches import Sentences
from training.encoders.bert import BertBody
from training.encoders.beside import Beside
from training.encoders.product_vectors import product_vectors
from training.encoders.settled import SettledLayers

VOCABULARY, WIDTH = 300, 32


@pytest.fixture(scope="module")
def layers() -> SettledLayers:
    torch.manual_seed(0)
    body = BertBody(layers=2, width=WIDTH, heads=4, inner=64, longest=16)
    torch.nn.init.normal_(body.places)
    vectors = np.random.default_rng(0).standard_normal((VOCABULARY, WIDTH)).astype(np.float32)
    read = product_vectors(vectors, np.ones(VOCABULARY, dtype=np.int64), parts=8, seed=0)
    return SettledLayers(read, body).eval()


def test_both_halves_have_length_one_before_they_are_weighed(layers: SettledLayers) -> None:
    table = torch.randn(10, WIDTH)
    served = Beside(layers, table, weight=0.5).eval()
    ids = torch.tensor([[[3, 1, 4], [5, 2, 0]], [[7, 0, 0], [0, 0, 0]]])
    mask = torch.tensor([[True, True], [True, False]])
    with torch.inference_mode():
        own = layers.rectangle(ids[:, :, 0], mask)
        found = served.rectangle(ids, mask) - own
    torch.testing.assert_close(own.norm(dim=1), torch.ones(2))
    # Id 1 is the first row: 0 is none.
    expected = 0.5 * functional.normalize(table[0] + table[3] + table[1], dim=0)
    torch.testing.assert_close(found[0], expected, atol=1e-5, rtol=0)
    torch.testing.assert_close(found[1], torch.zeros(WIDTH), atol=1e-6, rtol=0)


def test_what_is_exported_of_the_layers_is_what_is_trained(layers: SettledLayers) -> None:
    sentences = Sentences(torch.tensor([5, 9, 2, 7, 7, 30]), torch.tensor([2, 1, 3]))
    with torch.inference_mode():
        found, none = layers.halves(sentences)
        torch.testing.assert_close(found, layers.rectangle(*sentences.padded()), atol=1e-5, rtol=0)
        torch.testing.assert_close(found, layers(sentences))
    assert not none.any()


def test_order_counts_for_the_layers(layers: SettledLayers) -> None:
    one, other = torch.tensor([[5, 9, 2]]), torch.tensor([[2, 9, 5]])
    mask = torch.ones(1, 3, dtype=torch.bool)
    with torch.inference_mode():
        found = layers.rectangle(one, mask), layers.rectangle(other, mask)
    assert float(torch.cosine_similarity(*found)) < 0.999
