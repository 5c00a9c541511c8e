"""Which examples are held out when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from service.classification.logistic import Targets

Rows: TypeAlias = npt.NDArray[np.int64] | slice

CROSS_VALIDATED = 10_000
"""Beyond so many examples one held-out share says as much as folds do, for a fifth of the time."""
_HELD_OUT_SHARE = 5
_MOST_HELD_OUT = 20_000
_MOST_FITTED = 40_000
"""To choose the strength and measure; the weights that are kept are fitted on every example."""


@dataclass(frozen=True, slots=True)
class Fold:
    """Rows to fit on, and rows to predict."""

    fit: Rows
    held_out: Rows


def make_folds(
    targets: Targets, *, groups: npt.NDArray[np.int64] | None = None, folds: int = 5
) -> tuple[Fold, ...]:
    """Return stratified folds, fewer where a label has fewer examples; each label is in each.

    Many examples, which are taken to be in random order, are not copied: their last part is held
    out, once.

    Args:
        targets: int [examples], or 0/1 [examples, labels].
        groups: Of each example; a group is fitted on or held out whole. Where there are many
            examples, those of a group must follow each other.
        folds: At most so many.
    """
    count = len(targets)
    if count > CROSS_VALIDATED:
        held_out = min(count // _HELD_OUT_SHARE, _MOST_HELD_OUT)
        end = count - held_out
        if groups is not None:
            inside = np.flatnonzero(groups == groups[end])
            end = int(inside[0]) or int(inside[-1]) + 1
        return (Fold(slice(max(0, end - _MOST_FITTED), end), slice(end, count)),)
    # Several labels a text: stratified by the rarest of them, which is the hardest to spread.
    classes = targets if targets.ndim == 1 else _rarest(targets)
    if groups is None:
        number = _dealt(classes, folds)
    else:
        _, first, member = np.unique(groups, return_index=True, return_inverse=True)
        number = _dealt(classes[first], folds)[member.ravel()]
    return tuple(
        Fold(np.flatnonzero(number != fold), np.flatnonzero(number == fold))
        for fold in range(number.max() + 1)
    )


def held_out_rows(folds: Sequence[Fold], count: int) -> npt.NDArray[np.int64]:
    """Return the rows that are held out in any fold, in order of the folds."""
    every = np.arange(count)
    return np.concatenate([every[fold.held_out] for fold in folds])


def _dealt(classes: npt.NDArray[np.integer], folds: int) -> npt.NDArray[np.int64]:
    """Return the number of the fold of each, int64 [len(classes)], every class spread over all."""
    sizes = np.unique(classes, return_counts=True)[1]
    folds = int(max(2, min(folds, sizes.min())))
    order = np.random.default_rng(0).permutation(len(classes))
    order = order[np.argsort(classes[order], kind="stable")]
    number = np.empty(len(classes), dtype=np.int64)
    number[order] = np.arange(len(classes)) % folds
    return number


def _rarest(targets: Targets) -> npt.NDArray[np.int64]:
    frequency = targets.sum(axis=0)
    weighted = np.where(targets > 0, frequency, np.iinfo(np.int64).max)
    found: npt.NDArray[np.int64] = np.where(
        targets.any(axis=1), weighted.argmin(axis=1), targets.shape[1]
    )
    return found
