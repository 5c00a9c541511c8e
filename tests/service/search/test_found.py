"""The best of what the parts of an index find."""

from __future__ import annotations

import numpy as np

from service.search.found import Found, best_of


def _found(scores: list[list[float]], rows: list[list[int]]) -> Found:
    return np.array(scores, dtype=np.float32), np.array(rows, dtype=np.int64)


def test_the_best_of_two_parts_come_first_and_missing_rows_last() -> None:
    tail = _found([[0.9, 0.1], [0.4, 7.0]], [[6, 7], [5, -1]])
    head = _found([[0.95, 0.5], [0.4, 0.3]], [[1, 2], [0, 3]])
    scores, rows = best_of([tail, head], 3)
    assert rows.tolist() == [[1, 6, 2], [5, 0, 3]]  # of equal scores the first part's
    np.testing.assert_allclose(scores, [[0.95, 0.9, 0.5], [0.4, 0.4, 0.3]], rtol=1e-6)
    scores, rows = best_of([tail], 2)
    assert rows.tolist() == [[6, 7], [5, -1]]
    assert scores[1, 1] == -np.inf
