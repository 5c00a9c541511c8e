from __future__ import annotations

import numpy as np
import pytest

from service.projection.pca import project_linearly
from service.projection.tsne import squared_distances


def test_a_plane_is_found_again() -> None:
    rng = np.random.default_rng(0)
    flat = rng.normal(size=(40, 2)) * (5, 1)
    basis, _ = np.linalg.qr(rng.normal(size=(16, 2)))
    points, explained = project_linearly((flat @ basis.T).astype(np.float32))
    assert explained == pytest.approx(1.0)

    np.testing.assert_allclose(squared_distances(points), squared_distances(flat), atol=1e-3)
    assert points[:, 0].std() > points[:, 1].std()


def test_explained_is_the_share_of_the_variance() -> None:
    vectors = np.diag([3.0, 2.0, 1.0]).astype(np.float32)
    vectors = np.concatenate([vectors, -vectors])
    _, explained = project_linearly(vectors)
    assert explained == pytest.approx((9 + 4) / (9 + 4 + 1))


@pytest.mark.parametrize("count", [1, 2, 5])
def test_equal_vectors_are_one_point(count: int) -> None:
    points, explained = project_linearly(np.full((count, 8), 0.5, np.float32))
    np.testing.assert_allclose(points, np.zeros((count, 2)), atol=1e-6)
    assert explained == 1.0
