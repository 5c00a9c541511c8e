"""Fit a head: the strength by cross-validation, the temperature on held-out examples, a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

from service.classification.calibration import fit_temperature, log_losses, probabilities
from service.classification.folds import Fold, held_out_rows, make_folds
from service.classification.logistic import Features, Linear, Matrix, Targets, fit_logistic
from service.classification.report import Report, all_right, make_report
from service.errors import InputError

STRENGTHS = tuple(10.0 ** (1 - half / 2) for half in range(8))
"""10, 3.2, 1 ... 0.003, from the strongest on, each fit beginning where the last one ended."""
_WORSE_IN_A_ROW = 2
_ROUGH, _FINE = 1e-4, 1e-5
"""Tolerances: to compare strengths on held-out examples, and for the weights that are kept."""
_LISTED = 20
_LEAST_HELD_OUT = 4
"""With fewer examples than this nothing can be held out; descriptions of the labels carry them."""

ClassWeights = Literal["none", "balanced"] | Mapping[str, float]


class Watcher(Protocol):
    """Who is told how far a fit is, and may break it off by raising."""

    def progress(self, done: int, total: int | None = None, note: str | None = None) -> None:
        """Take that `done` of `total` steps are done."""
        ...

    def check(self) -> None:
        """Raise if it shall end."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class FitOptions:
    """What a user may choose.

    Attributes:
        regularisation: Strength of the pull towards zero, or towards the description; None
            chooses it by cross-validation.
        class_weights: How much an example counts, by its label.
        unknown_threshold: The answer is `unknown` where no label is as probable as this.
    """

    regularisation: float | None = None
    class_weights: ClassWeights = "none"
    unknown_threshold: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """What a fit gives."""

    linear: Linear
    temperature: float
    report: Report | None


def fit(
    features: Features,
    targets: Targets,
    *,
    labels: Sequence[str],
    languages: Sequence[str | None],
    options: FitOptions,
    watcher: Watcher,
    prior: Linear | None = None,
    groups: npt.NDArray[np.int64] | None = None,
) -> Fitted:
    """Fit weights on all examples, and measure them on held-out ones.

    The strongest regularisation whose held-out error is within one standard error of the least is
    taken (Breiman et al. 1984, section 3.4.3): of weights that do as well in the languages of the
    examples, the simplest serve the other languages best. Departure: those that give every held-out
    text the same answer are taken only where all of these do.

    Args:
        features: float [N, D]; where there are very many, in random order.
        targets: int [N], or 0/1 [N, labels]. Each label has two examples at least.
        labels: Their names.
        languages: Of the examples, for the report.
        options: What the user chose.
        watcher: Told of each step.
        prior: What the labels' descriptions amount to.
        groups: int64 [N], of examples that say the same; each is held out whole (`make_folds`).
    """
    path = _Path(
        features, targets, labels=labels, options=options, watcher=watcher, prior=prior,
        groups=groups,
    )  # fmt: skip
    if len(targets) < _LEAST_HELD_OUT:
        strength = options.regularisation or 1.0
        return Fitted(path.fit_all(strength), 1.0, None)
    folds = make_folds(targets, groups=groups)
    chosen = path.run(folds)
    rows = held_out_rows(folds, len(targets))
    truth = targets[rows]
    temperature = fit_temperature(chosen.held_out, truth)
    multi_label = targets.ndim == 2
    report = make_report(
        _cross_calibrated(chosen.held_out, truth),
        probabilities(chosen.held_out, temperature=1.0, multi_label=multi_label),
        truth,
        labels=labels,
        languages=[languages[row] for row in rows],
        folds=len(folds),
        regularisation=chosen.strength,
        unknown_threshold=options.unknown_threshold,
    )
    linear = path.fit_all(chosen.strength, chosen.linears[0])
    return Fitted(linear, temperature, report)


@dataclass(slots=True, eq=False)
class _Tried:
    """One strength, tried on every fold."""

    strength: float
    linears: list[Linear]
    held_out: Matrix  # logits of the folds' held-out rows, fold after fold
    errors: npt.NDArray[np.float64]  # of each of these rows, or of each group of them
    tells_apart: bool  # whether these rows do not all get the same answer


class _Path:
    """The fits over strengths and folds."""

    def __init__(
        self,
        features: Features,
        targets: Targets,
        *,
        labels: Sequence[str],
        options: FitOptions,
        watcher: Watcher,
        prior: Linear | None,
        groups: npt.NDArray[np.int64] | None,
    ) -> None:
        self._features = features
        self._targets = targets
        self._count = len(labels)
        self._weights = _sample_weights(targets, labels, options.class_weights)
        self._watcher = watcher
        self._prior = prior
        self._groups = groups
        given = options.regularisation
        self._strengths = STRENGTHS if given is None else (given,)
        self._done = 0
        self._total = 0

    def run(self, folds: Sequence[Fold]) -> _Tried:
        """Return the strength to take."""
        self._total = len(self._strengths) * len(folds) + 1
        tried: list[_Tried] = []
        for strength in self._strengths:
            tried.append(self._try(strength, folds, tried[-1] if tried else None))
            errors = [float(one.errors.mean()) for one in tried]
            # Of a rare label the strongest ones all learn nothing, and so are equally good.
            if len(errors) > _WORSE_IN_A_ROW and min(errors[-_WORSE_IN_A_ROW:]) > min(errors):
                break
        best = min(tried, key=lambda one: float(one.errors.mean()))
        slack = float(best.errors.std()) / len(best.errors) ** 0.5
        limit = float(best.errors.mean()) + slack
        as_good = [one for one in tried if float(one.errors.mean()) <= limit]
        # One that gives every text the frequent label is the simplest, and useless.
        return next((one for one in as_good if one.tells_apart), as_good[0])

    def fit_all(self, strength: float, start: Linear | None = None) -> Linear:
        """Return the weights for a strength, fitted on every example."""
        linear = self._fit(slice(None), strength, start, tolerance=_FINE)
        self._watcher.progress(self._total, self._total, "writing")
        return linear

    def _try(self, strength: float, folds: Sequence[Fold], before: _Tried | None) -> _Tried:
        linears = []
        for number, fold in enumerate(folds):
            note = f"fitting: regularisation {strength:.3g}, fold {number + 1} of {len(folds)}"
            self._watcher.progress(self._done, self._total, note)
            start = before.linears[number] if before else None
            linears.append(self._fit(fold.fit, strength, start, tolerance=_ROUGH))
            self._done += 1
        held_out: Matrix = np.concatenate(
            [
                linear.logits(self._features[fold.held_out])
                for linear, fold in zip(linears, folds, strict=True)
            ]
        )
        rows = held_out_rows(folds, len(self._targets))
        errors = _errors(held_out, self._targets[rows])
        if self._groups is not None:
            errors = _means(errors, self._groups[rows])
        return _Tried(
            strength, linears, held_out, errors, tells_apart=_tells_apart(held_out, self._targets)
        )

    def _fit(
        self,
        rows: npt.NDArray[np.int64] | slice,
        strength: float,
        start: Linear | None,
        *,
        tolerance: float,
    ) -> Linear:
        return fit_logistic(
            self._features[rows],
            self._targets[rows],
            labels=self._count,
            strength=strength,
            sample_weights=None if self._weights is None else self._weights[rows],
            prior=self._prior,
            start=start,
            tolerance=tolerance,
            check=self._watcher.check,
        )


def check_class_weights(chosen: ClassWeights, labels: Sequence[str]) -> None:
    """Raise InputError where a weight is given for a label that is not there."""
    unknown = set() if isinstance(chosen, str) else set(chosen) - set(labels)
    if unknown:
        raise InputError(
            "A weight is given for a label that no example has.",
            field="class_weights",
            given=min(unknown),
            remedy=f"There are: {', '.join(labels[:_LISTED])}{' ...' * (len(labels) > _LISTED)}.",
        )


def _errors(logits: Matrix, truth: Targets) -> npt.NDArray[np.float64]:
    """Return what the choice of a strength goes by, for each example: wrong or not.

    Several labels a text are hardly ever all right, so there it is the calibrated log loss.
    """
    if truth.ndim == 2:
        return log_losses(logits, truth, temperature=fit_temperature(logits, truth))
    return np.asarray(~all_right(logits, truth), dtype=np.float64)


def _tells_apart(logits: Matrix, truth: Targets) -> bool:
    """Return whether there are two rows with different answers."""
    answers = logits >= 0 if truth.ndim == 2 else logits.argmax(axis=1)[:, None]
    return bool((answers != answers[:1]).any())


def _means(
    values: npt.NDArray[np.float64], groups: npt.NDArray[np.int64]
) -> npt.NDArray[np.float64]:
    """Return the mean of each group: its examples tell no more together than one does."""
    member = np.unique(groups, return_inverse=True)[1].ravel()
    return np.bincount(member, weights=values) / np.bincount(member)


def _cross_calibrated(logits: Matrix, truth: Targets, parts: int = 5) -> Matrix:
    """Return probabilities, each scaled by a temperature that was fitted without its example."""
    number = np.random.default_rng(0).permutation(len(truth)) % min(parts, len(truth))
    found = np.empty_like(logits)
    for part in range(number.max() + 1):
        inside = number == part
        temperature = fit_temperature(logits[~inside], truth[~inside])
        found[inside] = probabilities(
            logits[inside], temperature=temperature, multi_label=truth.ndim == 2
        )
    return found


def _sample_weights(
    targets: Targets, labels: Sequence[str], chosen: ClassWeights
) -> npt.NDArray[np.float32] | None:
    """Return what each example counts, 1 in the mean; None where all count the same.

    A text with several labels counts as the mean of them.
    """
    if chosen == "none":
        return None
    if targets.ndim == 2:
        membership = targets.astype(np.float32)
    else:
        membership = np.eye(len(labels), dtype=np.float32)[targets]
    if chosen == "balanced":
        by_label = 1 / np.maximum(membership.sum(axis=0), 1)
    else:
        by_label = np.array([chosen.get(label, 1.0) for label in labels])
    carried = membership.sum(axis=1)
    weights = (membership @ (by_label / by_label.max())) / np.maximum(carried, 1)
    weights[carried == 0] = weights[carried > 0].mean() if carried.any() else 1.0
    scaled: npt.NDArray[np.float32] = (weights / weights.mean()).astype(np.float32)
    return scaled
