"""The ranking losses of Chidambaram et al. 2018 against loops over numbers."""

import math

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from training.objectives.dot_ranking import TranslationRanking, dot_ranking
from training.objectives.quick_thought import QuickThought
from training.objectives.response import ResponseRanking, ResponseTower

Array = npt.NDArray[np.float64]

RANDOM = np.random.default_rng(4)
X, Y, W = RANDOM.normal(size=(3, 4, 6))
Z = RANDOM.normal(size=(4, 2, 6))
NONE = torch.empty(0, dtype=torch.int64)


def by_hand(x: Array, y: Array, z: Array | None = None) -> float:
    """Return the mean of -log P(y_i | x_i), eq. 2."""
    total = 0.0
    for i in range(len(x)):
        others = [*y, *(z[i] if z is not None else ())]
        total -= x[i] @ y[i] - math.log(sum(math.exp(x[i] @ other) for other in others))
    return total / len(x)


def tensors(*arrays: Array) -> tuple[torch.Tensor, ...]:
    return tuple(torch.from_numpy(array).float() for array in arrays)


def tower_by_hand(tower: ResponseTower, rows: Array) -> Array:
    """Return tanh(W_2 tanh(W_1 r + b_1) + b_2)."""
    for layer in (tower.layers[0], tower.layers[2]):
        assert isinstance(layer, nn.Linear)
        rows = np.tanh(rows @ layer.weight.detach().numpy().T + layer.bias.detach().numpy())
    return rows


def test_among_the_answers_of_the_batch() -> None:
    assert abs(dot_ranking(*tensors(X, Y)).item() - by_hand(X, Y)) < 1e-5


def test_among_hard_negatives_of_ones_own_as_well() -> None:
    assert abs(dot_ranking(*tensors(X, Y, Z)).item() - by_hand(X, Y, Z)) < 1e-5


def test_translation_ranks_sources_for_targets() -> None:
    head = TranslationRanking()
    given = head(tensors(X, Y, Z[:, 0], Z[:, 1]), NONE)
    assert abs(given.item() - by_hand(X, Y, Z)) < 1e-5
    assert not list(head.parameters())


def test_only_the_response_goes_through_the_tower() -> None:
    tower = ResponseTower(6, 5)
    given = ResponseRanking(tower)(tensors(X, Y), NONE).item()
    assert abs(given - by_hand(X, tower_by_hand(tower, Y))) < 1e-5


def test_quick_thought_adds_up_both_neighbours() -> None:
    before, middle, after = towers = [ResponseTower(6, 5) for _ in range(3)]
    given = QuickThought(*towers)(tensors(X, Y, W), NONE).item()
    inputs = tower_by_hand(middle, Y)
    expected = by_hand(inputs, tower_by_hand(after, W)) + by_hand(inputs, tower_by_hand(before, X))
    assert abs(given - expected) < 1e-5


def test_great_dot_products_stay_finite() -> None:
    far = 100 * torch.eye(3)
    assert dot_ranking(far, far).item() == 0
    assert math.isfinite(dot_ranking(far, -far).item())
