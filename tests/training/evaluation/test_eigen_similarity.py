"""Eigen-similarity against scipy's Laplacian, sample by sample."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.sparse.csgraph import laplacian

from service.errors import InputError
from tests.training.evaluation.known_vectors import KnownVectors, drawn, write_nway
from training.evaluation.eigen_similarity import (
    EigenSimilarity,
    eigen_similarity,
    laplacian_eigenvalues,
)

RANDOM = np.random.default_rng(0)


def _unit(rows: int) -> np.ndarray:
    vectors = RANDOM.normal(size=(rows, 5))
    unit: np.ndarray = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype("f4")
    return unit


def test_eigenvalues_are_those_of_the_normalised_laplacian() -> None:
    vectors = _unit(7)
    weights = np.arccos(np.clip(vectors @ vectors.T, -1, 1)).astype(np.float64) / np.pi
    np.fill_diagonal(weights, 0)
    expected = np.sort(
        np.linalg.eigvalsh(np.asarray(laplacian(weights, normed=True), dtype=np.float64))
    )
    np.testing.assert_allclose(laplacian_eigenvalues(vectors[None])[0], expected, atol=1e-5)
    assert expected[0] == pytest.approx(0, abs=1e-9)


def test_the_mean_over_samples_of_the_sum_over_eigenvalues() -> None:
    first, second = _unit(20), _unit(20)
    random = np.random.default_rng(3)
    total = 0.0
    for _ in range(6):
        places = random.permutation(20)[:4]
        a, b = (laplacian_eigenvalues(side[places][None])[0] for side in (first, second))
        total += sum((x - y) ** 2 for x, y in zip(a, b, strict=True))
    assert eigen_similarity(first, second, samples=6, size=4, seed=3) == pytest.approx(total / 6)


def test_a_turned_space_is_the_same_graph() -> None:
    first = _unit(30)
    turn, _ = np.linalg.qr(RANDOM.normal(size=(5, 5)))
    turned = (first @ turn).astype(np.float32)
    assert eigen_similarity(first, turned) < 1e-6 < eigen_similarity(first, _unit(30))


def test_from_the_pivot_to_each_language(tmp_path: Path) -> None:
    columns = {code: [f"{code}{i}" for i in range(12)] for code in ("en", "de", "fr")}
    folder = write_nway(tmp_path, "news", columns)
    texts = [text for column in columns.values() for text in column]
    model = KnownVectors(drawn(texts, 4, seed=0), tuple(columns))
    (figure,) = EigenSimilarity(source="news", samples=20).measure(model, lambda: folder)
    assert set(figure.by_language) == {"de", "fr"}
    assert figure.value > 0
    with pytest.raises(InputError, match="13 rows are due"):
        EigenSimilarity(source="news", size=13).measure(model, lambda: folder)
