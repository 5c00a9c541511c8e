"""What the speed of training counts is what the plain model beside it counts."""

from __future__ import annotations

import torch

from benchmarks.training_speed import lengths_of
from training.data.batches import Sentences
from training.data.translation import TranslationBatch


def sentences(*lengths: int) -> Sentences:
    return Sentences(torch.ones(sum(lengths), dtype=torch.int64), torch.tensor(lengths))


def test_a_sentence_that_is_encoded_and_written_counts_once() -> None:
    both = {"en": sentences(3, 4), "fr": sentences(5, 6)}
    assert lengths_of(TranslationBatch(both, both)).tolist() == [3, 4, 5, 6]


def test_each_language_of_a_batch_counts() -> None:
    batch = TranslationBatch({"en": sentences(3)}, {"de": sentences(5), "fr": sentences(7)})
    assert lengths_of(batch).tolist() == [3, 5, 7]
