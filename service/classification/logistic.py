"""Logistic regression on sentence vectors: multinomial, or one sigmoid a label.

The objective is the one of scikit-learn's `LogisticRegression`,

    sum_i s_i loss(y_i, W x_i + b)  +  strength / 2 ||W - W0||^2,     strength = 1 / C

with one addition: the weights are drawn towards `W0` in place of zero. Where labels are described
in words, W0 is what the words say, so that no example at all leaves the description as it is, and
each example moves it (the maximum a posteriori estimate under a Gaussian prior around W0).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from service.classification.lbfgs import Point, minimise

Matrix: TypeAlias = npt.NDArray[np.float32]
Features: TypeAlias = npt.NDArray[np.floating]
"""float16 or float32 [examples, width]."""
Targets: TypeAlias = npt.NDArray[np.integer]
"""Label of each example, int [examples]; or, several at a time, 0 and 1 [examples, labels]."""

_CHUNK_ROWS = 8192


@dataclass(frozen=True, slots=True)
class Linear:
    """float32 weights [labels, width] and bias [labels]."""

    weights: Matrix
    bias: Matrix

    def logits(self, features: Features) -> Matrix:
        """Return W x + b, float32 [examples, labels]."""
        found: Matrix = np.empty((len(features), len(self.bias)), dtype=np.float32)
        for begin in range(0, len(features), _CHUNK_ROWS):
            chunk = features[begin : begin + _CHUNK_ROWS].astype(np.float32, copy=False)
            found[begin : begin + _CHUNK_ROWS] = chunk @ self.weights.T + self.bias
        return found


def fit_logistic(
    features: Features,
    targets: Targets,
    *,
    labels: int,
    strength: float,
    sample_weights: npt.NDArray[np.float32] | None = None,
    prior: Linear | None = None,
    start: Linear | None = None,
    tolerance: float = 1e-5,
    check: Callable[[], None] = lambda: None,
) -> Linear:
    """Return the weights that the objective above is least at.

    Args:
        features: float [N, D].
        targets: int [N], or 0/1 [N, labels] for labels that do not exclude each other.
        labels: How many there are.
        strength: Of the regularisation.
        sample_weights: Of each example, float32 [N]; 1 where None.
        prior: What the weights, and then also the bias, are drawn towards. Zero where None, and
            the bias goes free.
        start: Where to begin, such as the weights for another strength.
        tolerance: No component of the mean gradient is greater in the end.
        check: Called between steps; what it raises ends the fit.
    """
    width = features.shape[1]
    total = float(len(features)) if sample_weights is None else float(sample_weights.sum())
    middle = np.zeros(labels * (width + 1)) if prior is None else _flat(prior)
    drawn = np.full(labels * (width + 1), strength / total)
    if prior is None:
        drawn[labels * width :] = 0.0
    loss = _sigmoid_loss if targets.ndim == 2 else _softmax_loss

    def objective(point: Point) -> tuple[float, Point]:
        weights, bias = _unflat(point, labels)
        value = 0.0
        gradient = np.zeros((labels, width + 1))
        for begin in range(0, len(features), _CHUNK_ROWS):
            rows = slice(begin, begin + _CHUNK_ROWS)
            chunk = features[rows].astype(np.float32, copy=False)
            losses, errors = loss(chunk @ weights.T + bias, targets[rows])
            if sample_weights is not None:
                losses *= sample_weights[rows]
                errors *= sample_weights[rows, None]
            value += float(losses.sum(dtype=np.float64))
            gradient[:, :width] += errors.T @ chunk
            gradient[:, width] += errors.sum(axis=0, dtype=np.float64)
        away = point - middle
        flat = np.concatenate([gradient[:, :width].ravel(), gradient[:, width]])
        return (
            value / total + 0.5 * float(drawn @ (away * away)),
            flat / total + drawn * away,
        )

    begin = start or prior
    found = minimise(
        objective, middle if begin is None else _flat(begin), tolerance=tolerance, check=check
    )
    return Linear(*_unflat(found, labels))


def softmax(logits: Matrix) -> Matrix:
    """Return probabilities, each row summing to 1."""
    # The greatest becomes 0, so that no power overflows.
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    probabilities: Matrix = powers / powers.sum(axis=1, keepdims=True)
    return probabilities


def sigmoid(logits: Matrix) -> Matrix:
    """Return the probability of each label by itself."""
    probabilities: Matrix = (0.5 * (1 + np.tanh(0.5 * logits))).astype(np.float32)
    return probabilities


def _softmax_loss(logits: Matrix, targets: Targets) -> tuple[Matrix, Matrix]:
    """Return cross-entropy [rows] and its gradient in the logits [rows, labels]."""
    probabilities = softmax(logits)
    rows = np.arange(len(targets))
    losses: Matrix = -np.log(np.maximum(probabilities[rows, targets], np.float32(1e-30)))
    probabilities[rows, targets] -= 1
    return losses, probabilities


def _sigmoid_loss(logits: Matrix, targets: Targets) -> tuple[Matrix, Matrix]:
    """Return the summed binary cross-entropies [rows] and their gradient [rows, labels]."""
    truth = targets.astype(np.float32)
    # log(1 + e^-|z|) + max(z, 0) - z t, which cannot overflow
    losses = np.log1p(np.exp(-np.abs(logits))) + np.maximum(logits, 0) - logits * truth
    return losses.sum(axis=1), sigmoid(logits) - truth


def _flat(linear: Linear) -> Point:
    return np.concatenate([linear.weights.ravel(), linear.bias]).astype(np.float64)


def _unflat(point: Point, labels: int) -> tuple[Matrix, Matrix]:
    flat = point.astype(np.float32)
    return flat[:-labels].reshape(labels, -1), flat[-labels:]
