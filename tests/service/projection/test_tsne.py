from __future__ import annotations

import numpy as np
import pytest

from service.projection.tsne import (
    Matrix,
    gradient,
    joint_affinities,
    project_by_neighbours,
    squared_distances,
)

RNG = np.random.default_rng(3)


def clusters(count: int, each: int) -> tuple[np.ndarray, np.ndarray]:
    centres = RNG.normal(size=(count, 24))
    labels = np.repeat(np.arange(count), each)
    vectors = centres[labels] + 0.05 * RNG.normal(size=(count * each, 24))
    return vectors.astype(np.float32), labels


def divergence(affinities: Matrix, points: Matrix) -> float:
    closeness = 1 / (1 + squared_distances(points))
    np.fill_diagonal(closeness, 0)
    q = np.maximum(closeness / closeness.sum(), 1e-12)
    return float((affinities * np.log(affinities / q)).sum())


def test_each_row_has_the_wanted_perplexity() -> None:
    vectors = RNG.normal(size=(30, 6))
    distances = squared_distances(vectors)
    joint = joint_affinities(distances, 7.0)
    assert joint.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(joint, joint.T)
    # Against a search by hand for one row.
    row, own = distances[0], np.arange(30) != 0
    precisions = np.geomspace(0.01, 10, 20_001)[:, None]
    weights = np.exp(-row[own] * precisions)
    shares = weights / weights.sum(1, keepdims=True)
    entropy = -(shares * np.log(np.maximum(shares, 1e-300))).sum(1)
    nearest = shares[np.abs(entropy - np.log(7.0)).argmin()]
    column = joint_affinities(distances, 7.0)[0][own] * 60
    assert (column - nearest > -1e-3).all(), "p_0j + p_j0 is at least p_j|0"


def test_gradient_is_the_slope_of_the_divergence() -> None:
    affinities = joint_affinities(squared_distances(RNG.normal(size=(12, 5))), 3.0)
    points = RNG.normal(size=(12, 2))
    slope = gradient(affinities, points)
    for row, column in [(0, 0), (5, 1), (11, 0)]:
        step = np.zeros_like(points)
        step[row, column] = 1e-5
        ahead = divergence(affinities, points + step)
        behind = divergence(affinities, points - step)
        assert slope[row, column] == pytest.approx((ahead - behind) / 2e-5, rel=1e-3, abs=1e-7)


def test_neighbours_stay_neighbours() -> None:
    vectors, labels = clusters(6, 12)
    points = project_by_neighbours(vectors, perplexity=10)
    distances = squared_distances(points)
    np.fill_diagonal(distances, np.inf)
    assert (labels[distances.argmin(1)] == labels).mean() == 1.0


def test_it_ends_near_the_divergence_of_scikit_learn() -> None:
    manifold = pytest.importorskip("sklearn.manifold", reason="scikit-learn is in extra `train`")
    vectors, _ = clusters(5, 12)
    ours = project_by_neighbours(vectors, perplexity=15)
    theirs = manifold.TSNE(init="pca", method="exact", perplexity=15).fit_transform(vectors)
    affinities = joint_affinities(squared_distances(vectors.astype(np.float64)), 15)
    reference = divergence(affinities, theirs.astype(np.float64))
    assert divergence(affinities, ours) < reference * 1.1 + 0.02


def test_the_same_vectors_give_the_same_points() -> None:
    vectors, _ = clusters(3, 4)
    first = project_by_neighbours(vectors, perplexity=3)
    np.testing.assert_array_equal(first, project_by_neighbours(vectors, perplexity=3))


def test_equal_vectors_are_finite() -> None:
    points = project_by_neighbours(np.ones((6, 4), np.float32), perplexity=1.5)
    assert np.isfinite(points).all()
