"""Similarity search among equals: does a sentence's nearest neighbour translate it?"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from service.inference.session import Vectors

_BLOCK = 4096


def accuracy(queries: Vectors, targets: Vectors) -> float:
    """Return in percent how often row i of `targets` is the nearest to row i of `queries`.

    Both float32 [rows, D] of unit length. Of equal scores the first row counts as nearest.
    """
    hits = 0
    for start in range(0, len(queries), _BLOCK):
        scores = queries[start : start + _BLOCK] @ targets.T
        hits += int((scores.argmax(1) == np.arange(start, start + len(scores))).sum())
    return 100.0 * hits / len(queries)


def both_ways(first: Vectors, second: Vectors) -> float:
    """Return the mean of `accuracy` in both directions."""
    return (accuracy(first, second) + accuracy(second, first)) / 2


def search_error(columns: Mapping[str, Vectors]) -> float:
    """Return the mean error over all ordered pairs of languages of n-way rows, in percent.

    Schwenk & Douze 2017, algorithm 1. Needs two languages or more, all with the same rows.
    """
    errors = [
        100.0 - accuracy(columns[query], columns[target])
        for query in columns
        for target in columns
        if query != target
    ]
    return sum(errors) / len(errors)
