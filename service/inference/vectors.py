"""What is done to vectors after the model: cut, scale to length 1."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:  # sessions pool, and pooling builds on this module
    from service.inference.session import Vectors


SHORTEST = 1e-12
"""What is shorter has no direction, and counts as zero."""


def normalise(vectors: Vectors) -> Vectors:
    """Return `vectors` [batch, dimension] scaled to length 1; a zero vector stays zero."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: Vectors = vectors / np.maximum(lengths, np.float32(SHORTEST))
    return scaled


def cosines(vectors: Vectors, other: Vectors) -> Vectors:
    """Return the cosine of each of `vectors` [batch, dimension] with `other`, all of length 1.

    Rounded sums may lie a little beyond 1, which no cosine does.
    """
    clipped: Vectors = np.clip(vectors @ other, np.float32(-1), np.float32(1))
    return clipped


def finish(vectors: Vectors, *, dimensions: int | None, normalised: bool) -> Vectors:
    """Cut `vectors` to their first `dimensions`, then normalise.

    In this order, since a cut unit vector is no unit vector any more (Kusupati et al. 2022,
    Matryoshka Representation Learning).
    """
    if dimensions is not None and dimensions < vectors.shape[1]:
        vectors = np.ascontiguousarray(vectors[:, :dimensions])
    return normalise(vectors) if normalised else vectors
