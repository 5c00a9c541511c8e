"""What the parts of an index find, and the best of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from service.inference.session import Vectors

Found: TypeAlias = tuple[Vectors, npt.NDArray[np.int64]]
"""Scores and rows, both [queries, found], best first; rows below 0 are missing."""


def best_of(parts: Sequence[Found], k: int) -> Found:
    """Return the `k` best of one answer or more, best first; missing rows come last."""
    scores, rows = parts[0]
    if len(parts) > 1:
        scores = np.concatenate([part[0] for part in parts], axis=1)
        rows = np.concatenate([part[1] for part in parts], axis=1)
    scores[rows < 0] = -np.inf
    order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    lines = np.arange(len(scores))[:, np.newaxis]
    return scores[lines, order], rows[lines, order]
