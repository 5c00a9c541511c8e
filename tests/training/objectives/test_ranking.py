"""In-batch ranking, against a numpy formula and against autograd."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
import numpy.typing as npt
import pytest
import torch
from torch import Tensor
from torch.nn import functional

from training.data.batches import PairBatch, Sentences
from training.objectives import ranking
from training.objectives.ranking import InBatchRanking, NestedRanking, symmetric_ranking


@pytest.fixture(autouse=True)
def _in_fp32(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranking, "has_fast_bf16", lambda: False)


def _formula(
    x: npt.NDArray[np.float64], y: npt.NDArray[np.float64], temperature: float, margin: float
) -> float:
    """The loss as the module's docstring has it, sum by sum."""
    size = len(x)
    total = 0.0
    for i in range(size):
        row = np.array([(x[i] @ y[j] - margin * (i == j)) / temperature for j in range(size)])
        column = np.array([(x[j] @ y[i] - margin * (i == j)) / temperature for j in range(size)])
        total += np.log(np.exp(row).sum()) - row[i] + np.log(np.exp(column).sum()) - column[i]
    return total / (2 * size)


def _unit(seed: int, size: int = 7, width: int = 12) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return functional.normalize(torch.randn(size, width, generator=generator), dim=1)


def _batch(number: int = 0) -> PairBatch:
    nothing = Sentences(torch.empty(0, dtype=torch.int64), torch.empty(0, dtype=torch.int64))
    return PairBatch(nothing, nothing, number, torch.empty(0, 0), torch.empty(0))


@pytest.mark.parametrize(("temperature", "margin"), [(1.0, 0.0), (0.05, 0.0), (0.1, 0.3)])
def test_the_loss_is_the_formula(temperature: float, margin: float) -> None:
    x, y = _unit(1), _unit(2)
    loss = symmetric_ranking(x, y, temperature=temperature, margin=margin)
    expected = _formula(x.double().numpy(), y.double().numpy(), temperature, margin)
    assert loss.item() == pytest.approx(expected, rel=1e-4)


@dataclass
class _Reference:
    """Plain cross-entropy both ways, for autograd."""

    temperature: float
    margin: float

    def __call__(self, x: Tensor, y: Tensor) -> Tensor:
        scores = (x @ y.T - self.margin * torch.eye(len(x))) / self.temperature
        truth = torch.arange(len(x))
        there = functional.cross_entropy(scores, truth)
        back = functional.cross_entropy(scores.T, truth)
        return (there + back) / 2


@pytest.mark.parametrize("margin", [0.0, 0.2])
def test_the_gradient_is_that_of_autograd(margin: float) -> None:
    gradients = []

    def ours_of(x: Tensor, y: Tensor) -> Tensor:
        return symmetric_ranking(x, y, temperature=0.2, margin=margin)

    for loss_of in (ours_of, _Reference(0.2, margin)):
        x, y = _unit(1).requires_grad_(), _unit(2).requires_grad_()
        (3 * loss_of(x, y)).backward()  # type: ignore[no-untyped-call]
        gradients.append((cast(Tensor, x.grad), cast(Tensor, y.grad)))
    for ours, expected in zip(*gradients, strict=True):
        torch.testing.assert_close(ours, expected, rtol=1e-4, atol=1e-6)


def test_bf16_is_close(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = symmetric_ranking(_unit(1), _unit(2), temperature=0.1)
    monkeypatch.setattr(ranking, "has_fast_bf16", lambda: True)
    rounded = symmetric_ranking(_unit(1), _unit(2), temperature=0.1)
    assert rounded.item() == pytest.approx(exact.item(), rel=0.02)


def test_length_does_not_matter() -> None:
    objective = InBatchRanking(temperature=0.1)
    x, y = _unit(1), _unit(2)
    assert torch.allclose(objective(x, y, _batch()), objective(3 * x, 0.1 * y, _batch()))


def test_translations_that_lie_together_cost_less() -> None:
    objective = InBatchRanking()
    assert objective(_unit(1), _unit(1), _batch()) < objective(_unit(1), _unit(2), _batch()) / 10


def test_nested_ranking_takes_its_widths_in_turn_and_half_of_the_batch() -> None:
    objective = NestedRanking(widths=(8, 4), temperature=0.1)
    x, y = _unit(1), _unit(2)
    for number, width in ((0, 8), (1, 4), (2, 8)):
        cut = [functional.normalize(v[:3, :width], dim=1).double().numpy() for v in (x, y)]
        loss = objective(x, y, _batch(number))
        assert loss.item() == pytest.approx(_formula(cut[0], cut[1], 0.1, 0.0), rel=1e-4)
