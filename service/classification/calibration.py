"""Probabilities that mean what they say: temperature scaling and the expected calibration error.

Guo et al. 2017, On Calibration of Modern Neural Networks: one temperature divides the logits
(section 4.2); the expected calibration error compares confidence and accuracy in bins (section 2).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from service.classification.logistic import Matrix, Targets, sigmoid, softmax

_COLDEST, _HOTTEST = 0.02, 20.0
_GOLDEN = (5**0.5 - 1) / 2
_SEARCH_STEPS = 40
BINS = 10


def probabilities(logits: Matrix, *, temperature: float, multi_label: bool) -> Matrix:
    """Return calibrated probabilities [examples, labels]."""
    scaled = logits / np.float32(temperature)
    return sigmoid(scaled) if multi_label else softmax(scaled)


def log_losses(logits: Matrix, targets: Targets, *, temperature: float) -> npt.NDArray[np.float64]:
    """Return -log of the probability that each example's truth is given, [examples].

    Where labels don't exclude each other (`targets` 0/1 [examples, labels]), the mean over labels.
    """
    scaled = logits.astype(np.float64) / temperature
    if targets.ndim == 2:
        losses = np.logaddexp(0, scaled) - scaled * targets
        return np.asarray(losses.mean(axis=1))
    greatest = scaled.max(axis=1, keepdims=True)
    normaliser = greatest[:, 0] + np.log(np.exp(scaled - greatest).sum(axis=1))
    return np.asarray(normaliser - scaled[np.arange(len(targets)), targets])


def fit_temperature(logits: Matrix, targets: Targets) -> float:
    """Return the temperature that `targets` make likeliest, by golden section.

    Its logarithm is held to be near 0, as by a standard normal prior. Of hundreds of examples this
    says nothing; a handful that all are right would otherwise make every answer certain.
    """
    low, high = np.log(_COLDEST), np.log(_HOTTEST)

    def loss(logarithm: float) -> float:
        losses = log_losses(logits, targets, temperature=float(np.exp(logarithm)))
        return float(losses.sum()) + 0.5 * logarithm**2

    inner, outer = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_inner, at_outer = loss(inner), loss(outer)
    for _ in range(_SEARCH_STEPS):
        if at_inner < at_outer:
            high, outer, at_outer = outer, inner, at_inner
            inner = high - _GOLDEN * (high - low)
            at_inner = loss(inner)
        else:
            low, inner, at_inner = inner, outer, at_outer
            outer = low + _GOLDEN * (high - low)
            at_outer = loss(outer)
    return float(np.exp((low + high) / 2))


@dataclass(frozen=True, slots=True)
class Bin:
    """Predictions of like confidence: their mean confidence, how many are right, their number."""

    confidence: float
    accuracy: float
    examples: int


def calibration_bins(confidence: Matrix, right: npt.NDArray[np.bool_]) -> tuple[Bin, ...]:
    """Return the bins of equal width over 0 to 1 that have any prediction.

    Args:
        confidence: Probability of each prediction, [predictions].
        right: Whether it is right.
    """
    numbers = np.minimum((confidence * BINS).astype(np.int64), BINS - 1)
    return tuple(
        Bin(float(confidence[inside].mean()), float(right[inside].mean()), int(inside.sum()))
        for inside in (numbers == number for number in range(BINS))
        if inside.any()
    )


def expected_calibration_error(bins: tuple[Bin, ...]) -> float:
    """Return the mean distance of confidence and accuracy, weighted by the bins' sizes."""
    total = sum(part.examples for part in bins)
    if not total:
        return 0.0
    return sum(part.examples * abs(part.confidence - part.accuracy) for part in bins) / total
