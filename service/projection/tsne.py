"""Exact t-SNE (van der Maaten & Hinton 2008) for up to some hundred vectors.

The tree-based form of a library pays off from thousands of points on, and would bring scikit-learn
and SciPy into an installation that needs them for nothing else. It begins at the principal
components, so the same vectors give the same picture. The learning rate goes with the number of
points, with a floor of 5: at scikit-learn's 50, sixty points end at a divergence of 0.25, at 5 at
0.08.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from service.inference.session import Vectors
from service.projection.pca import project_linearly

Matrix = npt.NDArray[np.float64]

_EXAGGERATION = 12.0
_EXAGGERATED_STEPS = 150
_STEPS = 500
_SMALLEST = 1e-12


def project_by_neighbours(
    vectors: Vectors, *, perplexity: float, check: Callable[[], None] = lambda: None
) -> Matrix:
    """Return points [n, 2] whose neighbours are those of `vectors` [n, d].

    Args:
        vectors: At least 4.
        perplexity: About how many neighbours count; below (n - 1) / 3.
        check: Called before each step; what it raises ends the work.
    """
    affinities = joint_affinities(squared_distances(vectors.astype(np.float64)), perplexity)
    count = len(vectors)
    points, _ = project_linearly(vectors)
    points *= 1e-4 / max(float(points[:, 0].std()), _SMALLEST)
    rate = max(count / _EXAGGERATION / 4, 5.0)
    velocity, gains = np.zeros_like(points), np.ones_like(points)
    for step in range(_STEPS):
        check()
        early = step < _EXAGGERATED_STEPS
        slope = gradient(affinities * _EXAGGERATION if early else affinities, points)
        # Section 3.4 of the paper: momentum, and gains as in Jacobs (1988).
        gains = np.where(np.sign(slope) != np.sign(velocity), gains + 0.2, gains * 0.8)
        np.maximum(gains, 0.01, out=gains)
        velocity = (0.5 if early else 0.8) * velocity - rate * gains * slope
        points = points + velocity
        points -= points.mean(axis=0)
    return points


def squared_distances(vectors: Matrix) -> Matrix:
    """Return [n, n] squared Euclidean distances of `vectors` [n, d]."""
    squares = (vectors**2).sum(axis=1)
    distances = squares[:, None] + squares[None, :] - 2 * vectors @ vectors.T
    np.fill_diagonal(distances, 0.0)
    result: Matrix = np.maximum(distances, 0.0)
    return result


def joint_affinities(distances: Matrix, perplexity: float) -> Matrix:
    """Return the symmetric p_ij of equation 1 and section 3.1, [n, n], summing to 1.

    The width of each row is found by bisection on its entropy, all rows at once.
    """
    count = len(distances)
    wanted = np.log(perplexity)
    precision = np.ones((count, 1))
    low, high = np.zeros((count, 1)), np.full((count, 1), np.inf)
    off_diagonal = ~np.eye(count, dtype=bool)
    for _ in range(64):
        weights = np.where(off_diagonal, np.exp(-distances * precision), 0.0)
        total = np.maximum(weights.sum(axis=1, keepdims=True), _SMALLEST)
        entropy = np.log(total) + precision * (distances * weights).sum(1, keepdims=True) / total
        too_wide = entropy > wanted
        low = np.where(too_wide, precision, low)
        high = np.where(too_wide, high, precision)
        precision = np.where(np.isinf(high), precision * 2, (low + high) / 2)
    conditional = weights / total
    joint = (conditional + conditional.T) / (2 * count)
    result: Matrix = np.maximum(joint, _SMALLEST)
    return result


def gradient(affinities: Matrix, points: Matrix) -> Matrix:
    """Return equation 5: the slope of the Kullback-Leibler divergence at `points` [n, 2]."""
    closeness = 1 / (1 + squared_distances(points))
    np.fill_diagonal(closeness, 0.0)
    pull = (affinities - closeness / closeness.sum()) * closeness
    result: Matrix = 4 * (pull.sum(axis=1, keepdims=True) * points - pull @ points)
    return result
