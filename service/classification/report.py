"""What is known of a classifier from examples that it was not fitted on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from pydantic import Field

from service.bundle.manifest import Part
from service.classification.calibration import Bin, calibration_bins, expected_calibration_error
from service.classification.logistic import Matrix, Targets

_DIGITS = 4
LISTED_CONFUSIONS = 50
"""A confusion matrix of more labels than this is left out: nobody reads it."""


class LanguageReport(Part):
    """Held-out figures of the examples in one language."""

    examples: int
    accuracy: float
    macro_f1: float


class Confusion(Part):
    """How often the label of a row was taken for that of a column."""

    labels: tuple[str, ...]
    rows: tuple[tuple[int, ...], ...]


class CalibrationBin(Part):
    """Predictions of like confidence."""

    confidence: float
    accuracy: float
    examples: int


class Report(Part):
    """Held-out figures, each example predicted by weights that never saw it."""

    examples: int
    folds: int = Field(description="Of the cross-validation; 1 for a single held-out share")
    accuracy: float = Field(description="With several labels a text: share with all labels right")
    macro_f1: float
    ece: float = Field(description="Expected calibration error, after temperature scaling")
    ece_uncalibrated: float
    by_language: dict[str, LanguageReport] = Field(default_factory=dict)
    confusion: Confusion | None = None
    calibration: tuple[CalibrationBin, ...] = ()
    regularisation: float = Field(description="The strength that was chosen or given")
    unknown_share: float | None = Field(
        default=None, description="Share of held-out examples that fall below the threshold"
    )


def make_report(
    held_out: Matrix,
    uncalibrated: Matrix,
    targets: Targets,
    *,
    labels: Sequence[str],
    languages: Sequence[str | None],
    folds: int,
    regularisation: float,
    unknown_threshold: float | None,
) -> Report:
    """Return the report.

    Args:
        held_out: Calibrated probabilities [examples, labels], of weights that never saw them.
        uncalibrated: The same at temperature 1.
        targets: int [examples], or 0/1 [examples, labels].
        labels: Their names, in the order of the columns.
        languages: Of each example, or None.
        folds: Of the cross-validation.
        regularisation: The strength.
        unknown_threshold: Below which the answer is `unknown`.
    """
    right = all_right(held_out, targets)
    bins = _bins(held_out, targets)
    by_language = {
        code: LanguageReport(
            examples=int(inside.sum()),
            accuracy=_round(right[inside].mean()),
            macro_f1=_round(macro_f1(held_out[inside], targets[inside])),
        )
        for code in sorted({code for code in languages if code})
        if (inside := np.array([language == code for language in languages])).any()
    }
    unknown = None
    if unknown_threshold is not None:
        unknown = _round((held_out.max(axis=1) < unknown_threshold).mean())
    return Report(
        examples=len(targets),
        folds=folds,
        accuracy=_round(right.mean()),
        macro_f1=_round(macro_f1(held_out, targets)),
        ece=_round(expected_calibration_error(bins)),
        ece_uncalibrated=_round(expected_calibration_error(_bins(uncalibrated, targets))),
        by_language=by_language,
        confusion=_confusion(held_out, targets, labels),
        calibration=tuple(
            CalibrationBin(
                confidence=_round(part.confidence),
                accuracy=_round(part.accuracy),
                examples=part.examples,
            )
            for part in bins
        ),
        regularisation=regularisation,
        unknown_share=unknown,
    )


def all_right(probabilities: Matrix, targets: Targets) -> npt.NDArray[np.bool_]:
    """Return for each example whether its best label, or all its labels, are the true ones."""
    if targets.ndim == 2:
        return np.asarray(((probabilities >= 0.5) == (targets > 0)).all(axis=1))
    return np.asarray(probabilities.argmax(axis=1) == targets)


def macro_f1(probabilities: Matrix, targets: Targets) -> float:
    """Return the mean F1 over the labels that are true or given at least once."""
    labels = probabilities.shape[1]
    if targets.ndim == 2:
        given, true = probabilities >= 0.5, targets > 0
    else:
        given = np.eye(labels, dtype=bool)[probabilities.argmax(axis=1)]
        true = np.eye(labels, dtype=bool)[targets]
    hits = (given & true).sum(axis=0)
    total = given.sum(axis=0) + true.sum(axis=0)
    seen = total > 0
    return float((2 * hits[seen] / total[seen]).mean()) if seen.any() else 0.0


def _bins(probabilities: Matrix, targets: Targets) -> tuple[Bin, ...]:
    if targets.ndim == 2:
        return calibration_bins(probabilities.ravel(), (targets > 0).ravel())
    return calibration_bins(probabilities.max(axis=1), all_right(probabilities, targets))


def _confusion(probabilities: Matrix, targets: Targets, labels: Sequence[str]) -> Confusion | None:
    if targets.ndim == 2 or len(labels) > LISTED_CONFUSIONS:
        return None
    counts = np.zeros((len(labels), len(labels)), dtype=np.int64)
    np.add.at(counts, (targets, probabilities.argmax(axis=1)), 1)
    return Confusion(labels=tuple(labels), rows=tuple(map(tuple, counts.tolist())))


def _round(value: float) -> float:
    return round(float(value), _DIGITS)
