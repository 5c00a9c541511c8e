"""Similarity search."""

from __future__ import annotations

import numpy as np
import pytest

from training.evaluation.retrieval import accuracy, both_ways, search_error


def _unit(rows: list[list[float]]) -> np.ndarray:
    vectors = np.array(rows, dtype=np.float32)
    unit: np.ndarray = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit


def test_accuracy_counts_nearest_neighbours_in_one_direction() -> None:
    first = _unit([[1, 0], [0, 1], [1, 1]])
    second = _unit([[1, 0.1], [0, 1], [0, 1]])
    # [1, 1] is nearest to [1, 0.1]; back, both [0, 1] are nearest to the first [0, 1].
    assert accuracy(first, second) == pytest.approx(100 * 2 / 3)
    assert accuracy(second, first) == pytest.approx(100 * 2 / 3)
    assert both_ways(first, first) == 100.0


def test_blocks_do_not_change_the_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(0)
    first = random.standard_normal((50, 8)).astype(np.float32)
    second = (first + 0.8 * random.standard_normal((50, 8))).astype(np.float32)
    whole = accuracy(first, second)
    monkeypatch.setattr("training.evaluation.retrieval._BLOCK", 7)
    assert accuracy(first, second) == whole
    assert 0 < whole < 100


def test_the_error_is_the_mean_over_ordered_pairs() -> None:
    same, other = _unit([[1, 0], [0, 1]]), _unit([[0, 1], [1, 0]])
    assert search_error({"a": same, "b": same}) == 0.0
    assert search_error({"a": same, "b": same, "c": other}) == pytest.approx(100 * 4 / 6)
