"""Build the clusters of a corpus from its store, and measure what they find."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from service.inference.session import Vectors
from service.search.clusters import FIRST_PASS, Clusters, train, training_rows
from service.search.index import VectorIndex, clustered_index
from service.search.policy import IndexPolicy
from service.search.snapshot import Keys, Snapshot

NEIGHBOURS = 10
"""Recall is measured at ten."""

TRUTH_QUERIES = 256
MARGIN = 4
"""Queries of users lie further out than the corpus' own vectors, by which recall is measured: a
quarter of what the policy lets go is kept in hand."""

_TIE = 1e-6
"""A neighbour as near as the last true one is as good: texts of the same words have one vector."""


def build_index(
    snapshot: Snapshot,
    generation: int,
    *,
    policy: IndexPolicy,
    cancelled: Callable[[], bool],
) -> VectorIndex | None:
    """Return clusters of all vectors in `snapshot`, which has `generation`; None where cancelled.

    Args:
        snapshot: Read from start to end; writes go on meanwhile.
        generation: Of the snapshot.
        policy: Says what recall is wanted.
        cancelled: Asked now and then.
    """
    keys = snapshot.keys()
    random = np.random.default_rng(len(keys))
    rows = random.permutation(len(keys))[: training_rows(len(keys))]
    order = np.argsort(rows)
    sample = np.empty((len(rows), snapshot.dimension), dtype=np.float32)
    sample[order] = snapshot.vectors(keys[rows[order]])
    if cancelled():
        return None
    clusters = train(sample, len(keys))
    truth = Truth(rows[:TRUTH_QUERIES], sample[:TRUTH_QUERIES])
    for _, vectors in snapshot.vector_batches(keys):
        if cancelled():
            return None
        truth.see(vectors, start=len(clusters))
        clusters.add(vectors)
    calibrate(clusters, truth, lambda found: snapshot.vectors(keys[found]), policy.recall)
    return clustered_index(clusters, keys, generation=generation, policy=policy)


class Truth:
    """The score of the tenth nearest other vector of some of the vectors, found by comparing all.

    Args:
        rows: int64 [queries]: which they are.
        queries: float32 [queries, dimension].
    """

    def __init__(self, rows: npt.NDArray[np.int64], queries: Vectors) -> None:
        self.rows = rows
        self.queries = queries
        self._best = np.full((len(queries), NEIGHBOURS), -np.inf, dtype=np.float32)

    def see(self, vectors: Vectors, *, start: int) -> None:
        """Compare with the next `vectors` [n, dimension], whose first is row `start`."""
        scores = self.queries @ vectors.T
        own = self.rows - start
        inside = (own >= 0) & (own < len(vectors))
        scores[np.flatnonzero(inside), own[inside]] = -np.inf
        pooled = np.concatenate([self._best, scores], axis=1)
        self._best = -np.partition(-pooled, NEIGHBOURS - 1, axis=1)[:, :NEIGHBOURS]

    def recall(self, rows: npt.NDArray[np.int64], vectors_of: Callable[[Keys], Vectors]) -> float:
        """Return the share of true neighbours among `rows` [queries, n], -1 for none."""
        least = self._best.min(axis=1)
        due = np.minimum(NEIGHBOURS, np.isfinite(self._best).sum(axis=1))
        found = 0
        for query, own, row, score, most in zip(
            self.queries, self.rows, rows, least, due, strict=True
        ):
            others = row[(row >= 0) & (row != own)]
            scores = vectors_of(others) @ query
            found += min(int(most), int(np.count_nonzero(scores >= score - _TIE)))
        return found / max(1, int(due.sum()))


def calibrate(
    clusters: Clusters,
    truth: Truth,
    vectors_of: Callable[[npt.NDArray[np.int64]], Vectors],
    recall: float,
) -> None:
    """Set how many clusters a search looks at, so that it finds `recall` of the true neighbours.

    Args:
        clusters: All vectors are in them.
        truth: Has seen all of them.
        vectors_of: Reads the stored vectors of rows.
        recall: Wanted, 0 to 1.
    """
    wanted = recall + (1 - recall) / MARGIN
    depth = NEIGHBOURS + 1 + max(8, NEIGHBOURS // 2)
    clusters.first_pass, probes = FIRST_PASS, max(1, clusters.clusters // 64)
    while True:
        clusters.probes = probes
        _, rows = clusters.search(truth.queries, depth)
        clusters.recall = truth.recall(rows, vectors_of)
        if clusters.recall >= wanted:
            return
        if probes < clusters.clusters:
            probes = min(clusters.clusters, math.ceil(1.25 * probes))
        elif clusters.first_pass < len(clusters):
            clusters.first_pass *= 4  # every cluster is looked at: it is the 4 bits that lose some
        else:
            return
