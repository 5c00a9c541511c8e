"""Teacher forcing."""

from __future__ import annotations

import torch

from training.data.batches import Sentences
from training.decoders.targets import END_ID, force


def test_targets_are_shifted_by_one_and_end() -> None:
    target = Sentences(torch.tensor([5, 6, 7, 9]), torch.tensor([3, 1]))
    forced = force(target)
    assert forced.previous[:, 1:].tolist() == [[5, 6, 7], [9, 0, 0]]
    assert forced.mask.tolist() == [[True] * 4, [True, True, False, False]]
    assert forced.answers.tolist() == [5, 6, 7, END_ID, 9, END_ID]
    assert forced.sentence.tolist() == [0, 0, 0, 0, 1, 1]


def test_a_target_without_tokens_is_only_an_end() -> None:
    forced = force(Sentences(torch.tensor([4]), torch.tensor([0, 1])))
    assert forced.answers.tolist() == [END_ID, 4, END_ID]
    assert forced.sentence.tolist() == [0, 1, 1]
