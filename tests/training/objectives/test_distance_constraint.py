"""The distance constraints against loops in numpy, written from Li 2021."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
import torch
from torch import Tensor

from training.objectives.distance_constraint import (
    NtdvDistance,
    TmdeDistance,
    distances,
    draw_others,
    squared_distances,
)

SIZE, WIDTH, DRAWS = 6, 4, 5
Array = npt.NDArray[np.float64]


def pair(seed: int = 0) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    first = torch.randn(SIZE, WIDTH, generator=generator)
    return first, first + 0.3 * torch.randn(SIZE, WIDTH, generator=generator)


def drawn(seed: int) -> Array:
    torch.manual_seed(seed)
    return draw_others(SIZE, DRAWS, torch.device("cpu")).numpy()


def squared(x: Array) -> float:
    return float((x**2).sum())


def length(x: Array) -> float:
    return float(np.sqrt(squared(x)))


def test_eq_3_6_to_3_8() -> None:
    first, second = pair()
    a, b = first.double().numpy(), second.double().numpy()
    others = drawn(7)
    norm = np.mean([np.linalg.norm(row) for row in (*a, *b)])
    expected = 0.0
    for i in range(SIZE):
        for j in others[i]:
            k = squared(a[i] - b[i]) - squared(a[i] - b[j])
            expected += max(0.0, 3.0 + 3.0 * k / (2 * norm + 1)) / SIZE
    torch.manual_seed(7)
    found = NtdvDistance(margin=3.0, draws=DRAWS)(first, second)
    assert float(found) == pytest.approx(expected, rel=1e-5)


def test_eq_4_18_to_4_21() -> None:
    first, second = pair()
    a, b = first.double().numpy(), second.double().numpy()
    others = drawn(7)
    norm = float(np.mean([length(x - y) for x in a for y in b]))
    expected = 0.0
    for i in range(SIZE):
        near = length(a[i] - b[i]) / norm
        deltas = [max(0.0, 0.5 - (length(a[i] - b[j]) / norm - near)) for j in others[i]]
        expected += float(near + 0.7 * np.sum(deltas) / DRAWS) / SIZE
    torch.manual_seed(7)
    found = TmdeDistance(margin=0.5, weight=0.7, draws=DRAWS)(first, second)
    assert float(found) == pytest.approx(expected, rel=1e-5)


def test_a_translation_is_never_drawn_and_all_others_are() -> None:
    others = draw_others(5, 400, torch.device("cpu"))
    for i, row in enumerate(others.tolist()):
        assert set(row) == set(range(5)) - {i}


def test_the_loss_of_t_mde_does_not_depend_on_the_scale_of_the_vectors() -> None:
    first, second = pair()
    losses = []
    for scale in (1.0, 30.0):
        torch.manual_seed(0)
        losses.append(float(TmdeDistance(draws=DRAWS)(scale * first, scale * second)))
    assert losses[0] == pytest.approx(losses[1], rel=1e-4)


@pytest.mark.parametrize("distance", [NtdvDistance(margin=4.0), TmdeDistance()])
def test_descent_brings_translations_together(distance: NtdvDistance | TmdeDistance) -> None:
    torch.manual_seed(0)
    first, second = (torch.randn(16, 8, requires_grad=True) for _ in range(2))
    optimiser = torch.optim.Adam([first, second], lr=0.05)
    for _ in range(100):
        optimiser.zero_grad()
        torch.autograd.backward(distance(first, second))
        optimiser.step()
    nearest = squared_distances(first, second).argmin(1)
    assert nearest.tolist() == list(range(16))


@pytest.mark.parametrize("distance", [NtdvDistance(margin=4.0), TmdeDistance()])
def test_one_pair_alone_has_nothing_to_be_far_from(distance: NtdvDistance | TmdeDistance) -> None:
    first = torch.ones(1, 3, requires_grad=True)
    loss = distance(first, torch.zeros(1, 3))
    torch.autograd.backward(loss)
    assert loss.item() == 0.0
    assert first.grad is not None


@pytest.mark.parametrize("equal", [4, 1])
def test_equal_vectors_give_finite_gradients(equal: int) -> None:
    first, second = torch.ones(4, 3), torch.ones(4, 3)
    second[equal:] = torch.randn(4 - equal, 3, generator=torch.Generator().manual_seed(0))
    first.requires_grad_()
    torch.autograd.backward(TmdeDistance()(first, second))
    assert first.grad is not None
    assert first.grad.isfinite().all()


def test_distances_of_close_vectors_are_exact() -> None:
    first = torch.full((2, 8), 100.0)
    second = first.clone()
    second[0, 0] += 2**-6
    assert distances(first, second).tolist() == [[2**-6, 0.0], [2**-6, 0.0]]
