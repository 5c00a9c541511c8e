"""The two directions in which vectors differ most."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from service.inference.session import Vectors


def project_linearly(vectors: Vectors) -> tuple[npt.NDArray[np.float64], float]:
    """Return the first two principal components of `vectors`, and their share of the variance.

    Args:
        vectors: [n, d], n at least 1.

    Returns:
        Points [n, 2], each axis turned so that its farthest point is on the positive side, which
        makes the answer the same on every machine; and the share, 0 to 1 (1 where all vectors are
        equal: nothing is hidden then).
    """
    centred = vectors.astype(np.float64) - vectors.mean(axis=0, dtype=np.float64)
    left, singular, _ = np.linalg.svd(centred, full_matrices=False)
    points = np.zeros((len(vectors), 2))
    kept = min(2, len(singular))
    points[:, :kept] = left[:, :kept] * singular[:kept]
    farthest = points[np.abs(points).argmax(axis=0), np.arange(2)]
    points *= np.where(farthest < 0, -1.0, 1.0)
    variance = singular**2
    total = float(variance.sum())
    return points, float(variance[:2].sum()) / total if total > 1e-12 else 1.0
