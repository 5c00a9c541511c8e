"""An encoder whose vectors are mapped at the end."""

from __future__ import annotations

import numpy as np
import torch

from training.data.batches import Sentences
from training.encoders.bert import BertBody
from training.encoders.mapped import Mapped
from training.encoders.product_vectors import product_vectors
from training.encoders.settled import SettledLayers

VOCABULARY, WIDTH = 300, 32


def test_vectors_are_multiplied_from_the_right() -> None:
    torch.manual_seed(0)
    random = np.random.default_rng(0)
    vectors = random.standard_normal((VOCABULARY, WIDTH)).astype(np.float32)
    read = product_vectors(vectors, np.ones(VOCABULARY, dtype=np.int64), parts=8, seed=0)
    body = BertBody(layers=1, width=WIDTH, heads=4, inner=64, longest=16)
    layers = SettledLayers(read, body).eval()
    turned = random.standard_normal((WIDTH, WIDTH)).astype(np.float32)  # not symmetric
    mapped = Mapped(layers, turned)
    sentences = Sentences(torch.tensor([5, 9, 2, 7, 7, 30]), torch.tensor([2, 1, 3]))
    with torch.inference_mode():
        expected = layers(sentences) @ torch.from_numpy(turned)
        torch.testing.assert_close(mapped(sentences), expected)
        torch.testing.assert_close(
            mapped.rectangle(*sentences.padded()), expected, atol=1e-4, rtol=1e-4
        )
