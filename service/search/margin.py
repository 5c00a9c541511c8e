"""Margin scores: a cosine counts for more where the two stand out from their neighbours.

    margin(x, y) = cos(x, y) / ((mean cos(x, z), z in NN_k(x)) + (mean cos(y, z), z in NN_k(y))) * 2

Artetxe & Schwenk 2019, Margin-based parallel corpus mining, eq. 3 with `ratio`. Some sentences are
near to everything; their margin is about 1, that of a translation well above it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import numpy.typing as npt

from service.inference.session import Vectors
from service.search.backend import CorpusBackend
from service.search.document import Hit
from service.search.filters import Filter

NEIGHBOURS = 4
"""k of the equation; the paper's own."""

LEAST_MEAN = 1e-6
"""A mean below it would turn the ratio's sign or blow it up."""


def ratio(
    cosines: npt.NDArray[np.floating], x_means: npt.ArrayLike, y_means: npt.ArrayLike
) -> npt.NDArray[np.float64]:
    """Return the margins of pairs from their cosines and the means of their neighbours' cosines."""
    mean = (np.asarray(x_means, np.float64) + np.asarray(y_means, np.float64)) / 2
    return np.asarray(cosines, np.float64) / np.maximum(mean, LEAST_MEAN)


def neighbour_means(
    corpus: CorpusBackend,
    vectors: Vectors,
    *,
    exclude: Sequence[Collection[str]] | None = None,
    languages: Collection[str] | None = None,
    filter: Filter | None = None,
) -> Vectors:
    """Return float32 [rows of vectors]: the mean cosine with the nearest in `corpus`.

    Args:
        corpus: Where the neighbours are.
        vectors: float32 [rows, dimension].
        exclude: For each row, ids that are no neighbours: its own.
        languages: Of the neighbours.
        filter: That the neighbours meet.
    """
    rows = corpus.search(vectors, k=NEIGHBOURS, exclude=exclude, languages=languages, filter=filter)
    return np.array([mean_score(row) for row in rows], dtype=np.float32)


def mean_score(hits: Sequence[Hit]) -> float:
    """Return the mean cosine of the first neighbours; 0 where there are none."""
    nearest = [hit.score for hit in hits[:NEIGHBOURS]]
    return float(np.mean(nearest)) if nearest else 0.0


def hit_margins(
    corpus: CorpusBackend,
    hits: Sequence[Hit],
    *,
    languages: Collection[str] | None = None,
    filter: Filter | None = None,
) -> npt.NDArray[np.float64]:
    """Return float64 [hits]: the margin of each hit with the query they are the nearest of.

    A hit's own neighbours are looked for in the same corpus, under the same conditions, without
    itself. They say whether it is near to everything.

    Args:
        corpus: That the hits are from.
        hits: Of one query, best first.
        languages: Of the hits.
        filter: That the hits meet.
    """
    if not hits:
        return np.empty(0, dtype=np.float64)
    vectors = corpus.vectors_of([hit.id for hit in hits])
    of_hits = neighbour_means(
        corpus, vectors, exclude=[[hit.id] for hit in hits], languages=languages, filter=filter
    )
    return ratio(np.array([hit.score for hit in hits]), mean_score(hits), of_hits)
