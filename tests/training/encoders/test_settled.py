"""Layers in the form in which they are stored."""

from __future__ import annotations

import numpy as np
import torch

from training.data.batches import Sentences
from training.encoders.bert import BertBody
from training.encoders.product_vectors import product_vectors
from training.encoders.settled import SettledLayers

VOCABULARY, WIDTH, MARKS = 300, 32, 2


def make() -> SettledLayers:
    torch.manual_seed(0)
    vectors = np.random.default_rng(0).standard_normal((VOCABULARY, WIDTH)).astype(np.float32)
    read = product_vectors(vectors, np.ones(VOCABULARY, dtype=np.int64), parts=8, seed=0)
    body = BertBody(layers=2, width=WIDTH, heads=4, inner=64, longest=16)
    torch.nn.init.normal_(body.places)
    return SettledLayers(read, body, torch.randn(MARKS, WIDTH)).eval()


SENTENCES = Sentences(torch.tensor([5, 9, 2, 7, 7, 30]), torch.tensor([2, 1, 3]))


def test_ragged_and_padded_agree_and_a_batch_changes_nothing() -> None:
    layers = make()
    with torch.inference_mode():
        together = layers(SENTENCES)
        torch.testing.assert_close(layers.rectangle(*SENTENCES.padded()), together)
        for number in range(3):
            alone = layers(SENTENCES.part(range(number, number + 1)))
            torch.testing.assert_close(alone[0], together[number])
    torch.testing.assert_close(together.norm(dim=1), torch.ones(3))


def test_marks_are_read_before_the_text_and_are_not_in_the_mean() -> None:
    layers = make()
    ids, mask = SENTENCES.rows(torch.tensor([2])).padded()
    with torch.inference_mode():
        rows = torch.cat([layers.marks, layers.read(ids[0])])
        expected = layers.body(rows[None])[0, MARKS:].mean(0)
        found = layers.rectangle(ids, mask)[0]
    torch.testing.assert_close(found, expected / expected.norm())


def test_no_tokens_give_zeros() -> None:
    ids, mask = torch.zeros(1, 3, dtype=torch.int64), torch.zeros(1, 3, dtype=torch.bool)
    with torch.inference_mode():
        assert not make().rectangle(ids, mask).any()


def test_what_follows_is_multiplied_from_the_right() -> None:
    layers = make()
    random = np.random.default_rng(1)
    first, second = (  # neither is symmetric
        random.standard_normal((WIDTH, WIDTH)).astype(np.float32) for _ in range(2)
    )
    with torch.inference_mode():
        before = layers(SENTENCES)
        layers.follow(first)
        layers.follow(second)
        expected = before @ torch.from_numpy(first @ second)
        expected /= expected.norm(dim=1, keepdim=True)
        torch.testing.assert_close(layers(SENTENCES), expected, atol=1e-5, rtol=1e-4)
