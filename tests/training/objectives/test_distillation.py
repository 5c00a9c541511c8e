"""Distillation, against a numpy formula."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from training.data.batches import PairBatch, Sentences
from training.objectives.distillation import Distillation


def _batch(taught: list[int], teacher: torch.Tensor) -> PairBatch:
    nothing = Sentences(torch.empty(0, dtype=torch.int64), torch.empty(0, dtype=torch.int64))
    return PairBatch(nothing, nothing, 0, teacher, torch.tensor(taught, dtype=torch.int64))


def test_the_loss_is_the_formula() -> None:
    generator = torch.Generator().manual_seed(0)
    source, target = torch.randn(2, 5, 6, generator=generator)
    teacher = torch.randn(2, 6, generator=generator)
    loss = Distillation()(source, target, _batch([3, 0], teacher))
    expected = []
    for row, place in enumerate((3, 0)):
        t = teacher[row].numpy()
        for side in (source[place].numpy(), target[place].numpy()):
            expected.append(1 - side @ t / np.linalg.norm(side) / np.linalg.norm(t))
    assert loss.item() == pytest.approx(sum(expected) / 2, rel=1e-5)


def test_without_a_teacher_it_is_zero_and_still_has_a_gradient() -> None:
    source = torch.ones(2, 3, requires_grad=True)
    loss = Distillation()(source, source, _batch([], torch.empty(0, 0)))
    loss.backward()  # type: ignore[no-untyped-call]
    assert loss.item() == 0.0
    assert source.grad is not None
