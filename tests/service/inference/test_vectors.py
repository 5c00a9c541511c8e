from __future__ import annotations

import numpy as np

from service.inference.vectors import cosines, finish, normalise


def test_lengths_become_one_and_zero_stays_zero() -> None:
    vectors = np.array([[3.0, 4.0], [0.0, 0.0]], dtype=np.float32)
    np.testing.assert_allclose(normalise(vectors), [[0.6, 0.8], [0.0, 0.0]], rtol=1e-6)


def test_cut_comes_before_scaling() -> None:
    vectors = np.array([[3.0, 4.0, 12.0]], dtype=np.float32)
    cut = finish(vectors, dimensions=2, normalised=True)
    np.testing.assert_allclose(cut, [[0.6, 0.8]], rtol=1e-6)


def test_raw_vectors_stay_raw() -> None:
    vectors = np.array([[3.0, 4.0]], dtype=np.float32)
    np.testing.assert_array_equal(finish(vectors, dimensions=None, normalised=False), vectors)


def test_no_cosine_lies_beyond_one() -> None:
    rows = np.random.default_rng(1).standard_normal((200, 384)).astype(np.float32)
    vectors = normalise(rows)
    assert max(float((vectors @ row).max()) for row in vectors) > 1, "or the test shows nothing"
    found = np.stack([cosines(vectors, row) for row in vectors])
    assert found.min() >= -1
    assert found.max() <= 1
    assert found.dtype == np.float32
