"""Nearness to the teacher and ranking among its vectors, against the formulas in numpy."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import torch

from training.objectives.distillation import distance_to_teacher
from training.objectives.taught import teacher_ranking


def unit(rows: torch.Tensor) -> npt.NDArray[np.float64]:
    array = rows.numpy().astype(np.float64)
    result: npt.NDArray[np.float64] = array / np.linalg.norm(array, axis=1, keepdims=True)
    return result


def test_the_distance_is_one_less_the_cosine() -> None:
    torch.manual_seed(0)
    vectors, targets = torch.randn(5, 8), torch.randn(5, 8)
    expected = 1 - (unit(vectors) * unit(targets)).sum(1).mean()
    assert abs(float(distance_to_teacher(vectors, targets)) - expected) < 1e-6


def test_the_ranking_is_a_softmax_over_targets_and_negatives() -> None:
    torch.manual_seed(0)
    vectors, targets, negatives = torch.randn(5, 8), torch.randn(5, 8), torch.randn(3, 8)
    scores = unit(vectors) @ unit(torch.cat([targets, negatives])).T / 0.1
    expected = -np.mean(
        [scores[i, i] - np.log(np.exp(scores[i]).sum()) for i in range(len(scores))]
    )
    found = teacher_ranking(vectors, targets, negatives, temperature=0.1)
    assert abs(float(found) - expected) < 1e-5


def test_what_says_the_same_is_no_negative() -> None:
    torch.manual_seed(0)
    vector, target = torch.randn(1, 8), torch.randn(1, 8)
    # The target once more, a little longer: of the same direction.
    loss = teacher_ranking(vector, target, target * 1.5, temperature=0.1)
    assert abs(float(loss)) < 1e-6
    among_negatives = teacher_ranking(vector, target, target * 1.5, temperature=0.1, alike=1.1)
    assert abs(float(among_negatives) - math.log(2)) < 1e-5
