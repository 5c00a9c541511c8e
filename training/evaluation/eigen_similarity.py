"""Eigen-similarity of two languages in one space (Chidambaram et al. 2018, section 5, eq. 3).

    Psi(S, T) = 1/N sum_i sum_j (lambda_j(L_i^s) - lambda_j(L_i^t))^2

N samples of K translated pairs; each side's matrix of pairwise distances is taken for the weights
of a graph, and the eigenvalues of the two normalised Laplacians are compared. Smaller is more
alike. The paper names neither the distance nor the Laplacian: here the angular distance, as in its
section 3.5, and L = I - D^-1/2 A D^-1/2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from service.errors import InputError
from service.inference.session import Vectors
from training.data.folder import DataFolder
from training.evaluation.figures import Figure, mean_figure
from training.evaluation.models import SentenceModel
from training.evaluation.nway_rows import NWayRows, vectors_by_language

NAME = "eigen"


def laplacian_eigenvalues(vectors: Vectors) -> npt.NDArray[np.float64]:
    """Return the eigenvalues of the normalised Laplacians, ascending, float64 [samples, K].

    Args:
        vectors: float32 [samples, K, D] of unit length.
    """
    cosines = np.einsum("nkd,nld->nkl", vectors, vectors, dtype=np.float64)
    weights = np.arccos(np.clip(cosines, -1.0, 1.0)) / np.pi
    places = np.arange(weights.shape[1])
    weights[:, places, places] = 0.0
    degrees = np.maximum(weights.sum(2), 1e-12)
    scale = 1.0 / np.sqrt(degrees)
    laplacians = np.eye(len(places)) - scale[:, :, None] * weights * scale[:, None, :]
    values: npt.NDArray[np.float64] = np.linalg.eigvalsh(laplacians)
    return values


def eigen_similarity(
    first: Vectors, second: Vectors, *, samples: int = 1000, size: int = 10, seed: int = 0
) -> float:
    """Return Psi of two languages; 0 where their graphs are the same.

    Args:
        first: float32 [rows, D] of unit length.
        second: float32 [rows, D] of unit length; row i translates row i of `first`.
        samples: N.
        size: K, of a sample; rows of one are all different.
        seed: Of the samples.
    """
    random = np.random.default_rng(seed)
    drawn = np.stack([random.permutation(len(first))[:size] for _ in range(samples)])
    difference = laplacian_eigenvalues(first[drawn]) - laplacian_eigenvalues(second[drawn])
    return float((difference**2).sum(1).mean())


@dataclass(frozen=True, slots=True, kw_only=True)
class EigenSimilarity(NWayRows):
    """What may be changed with `--set`."""

    pivot: str = "en"
    samples: int = 1000  # N
    size: int = 10  # K
    seed: int = 0

    def __post_init__(self) -> None:
        NWayRows.__post_init__(self)
        if self.samples < 1 or self.size < 2:
            raise ValueError("samples are at least 1, of a size of 2 or more")

    def measure(self, model: SentenceModel, folder: Callable[[], DataFolder]) -> list[Figure]:
        """Return Psi x 1000 of the pivot and each language.

        Raises:
            InputError: The source or a language is missing, or there are too few rows.
        """
        columns = self.read(model, folder())
        if self.pivot not in columns or len(columns[self.pivot]) < self.size:
            raise InputError(
                f"{self.size} rows are due that have the pivot, {self.pivot}.", field="size"
            )
        vectors = vectors_by_language(model, columns)
        by_language = {
            language: 1000.0
            * eigen_similarity(
                vectors[self.pivot],
                vectors[language],
                samples=self.samples,
                size=self.size,
                seed=self.seed,
            )
            for language in columns
            if language != self.pivot
        }
        return [
            mean_figure(
                NAME,
                f"{self.source}, {len(columns[self.pivot]):,} rows",
                f"eigen-similarity with {self.pivot} x 1000, less is more alike",
                by_language,
            )
        ]
