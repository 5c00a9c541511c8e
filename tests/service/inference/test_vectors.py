from __future__ import annotations

import numpy as np

from service.inference.vectors import finish, normalise


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
