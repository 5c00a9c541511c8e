"""The similarity loss against numpy."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from training.objectives.similarity import squared_distance


def test_it_is_the_mean_squared_distance() -> None:
    first, second = np.random.default_rng(0).standard_normal((2, 7, 5))
    expected = np.mean([np.linalg.norm(a - b) ** 2 for a, b in zip(first, second, strict=True)])
    found = squared_distance(torch.from_numpy(first), torch.from_numpy(second))
    assert float(found) == pytest.approx(expected)


def test_equal_vectors_have_none() -> None:
    vectors = torch.randn(3, 4)
    assert float(squared_distance(vectors, vectors)) == 0.0
