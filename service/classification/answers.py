"""Probabilities as answers: labels with scores, best first, or `unknown`."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from service.classification.example import UNKNOWN
from service.classification.head import Head
from service.classification.logistic import Matrix

Scored: TypeAlias = list[dict[str, object]]
"""`{"label", "score"}` of some labels of one input, likeliest first."""

_DIGITS = 6  # float32 holds no more


def best_labels(head: Head, probabilities: Matrix, top_k: int | None) -> list[Scored]:
    """Return the `top_k` likeliest labels of each input, all of them where None.

    Where no label is as probable as the head's threshold, `unknown` stands before them, with what
    the likeliest leaves as its score.

    Args:
        head: What said the probabilities.
        probabilities: float32 [inputs, labels].
        top_k: How many labels.
    """
    # Rounded and looked up as arrays: `round` for each label would be most of what a head costs.
    order = np.argsort(-probabilities, axis=1, kind="stable")[:, :top_k]
    kept = np.take_along_axis(probabilities, order, axis=1).astype(np.float64).round(_DIGITS)
    names = np.array(head.labels, dtype=object)[order]
    scored: list[Scored] = [
        [{"label": label, "score": score} for label, score in zip(row, scores, strict=True)]
        for row, scores in zip(names.tolist(), kept.tolist(), strict=True)
    ]
    threshold = head.manifest.unknown_threshold
    if threshold is not None:
        for row, best in zip(scored, probabilities.max(axis=1).tolist(), strict=True):
            if best < threshold:
                row.insert(0, {"label": UNKNOWN, "score": round(1 - best, _DIGITS)})
    return scored
