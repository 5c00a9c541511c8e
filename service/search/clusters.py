"""An approximate index: vectors in clusters, of which a search looks at the nearest.

A search goes through three precisions, each on fewer vectors than the one before:

1. the clusters nearest to the query, by 4 bits for every two numbers (FAISS' fast scan);
2. the best of those by 8 bits a number;
3. the best of those by the stored vectors, exactly; this step is `service.search.index`'s.

Clusters and not a graph, for a reason that was measured: over encodings of many languages HNSW
(M 32, efSearch 256) finds 95 % of the true neighbours and hardly more with more effort, while
looking at more clusters always ends at all of them. Adding is cheap as well, and so is a filter:
the fewer vectors pass it, the more clusters are looked at for the same number of comparisons.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import numpy.typing as npt

from service.inference.session import Vectors
from service.search.native import bitmap_selector, faiss

Rows = npt.NDArray[np.int64]
"""int64: numbers of vectors, in the order in which they were added."""

ROWS_A_CENTROID = 40
"""How many vectors train one centroid; FAISS asks for 39 at least."""

KMEANS_ROUNDS = 8
PQ_TRAINING_ROWS = 4_096
FIRST_PASS = 192
"""Fewer lose neighbours that the clusters hold; more bring hardly any."""


class Clusters:
    """Approximate neighbours of vectors numbered 0, 1, ... in the order of adding.

    Args:
        index: Trained: `IndexRefine` over `IndexIVFPQFastScan` and 8-bit scalars.
        probes: Clusters that a search without a filter looks at.
        first_pass: How many of the first precision go on to the second.
        recall: The share of the true ten nearest that this was measured to find.
    """

    def __init__(
        self,
        index: Any,  # noqa: ANN401 - FAISS has no types
        *,
        probes: int,
        first_pass: int,
        recall: float,
    ) -> None:
        self.index = index
        self.first_pass = first_pass
        self.probes = probes
        self.recall = recall
        self._coarse = faiss.downcast_index(index.base_index)

    def __len__(self) -> int:
        return int(self.index.ntotal)

    @property
    def dimension(self) -> int:
        """Width of the vectors."""
        return int(self.index.d)

    @property
    def clusters(self) -> int:
        """How many there are."""
        return int(self._coarse.nlist)

    def add(self, vectors: Vectors) -> None:
        """Add float32 [n, dimension] at the end."""
        self.index.add(np.ascontiguousarray(vectors, dtype=np.float32))

    def search(
        self,
        queries: Vectors,
        k: int,
        *,
        selected: npt.NDArray[np.bool_] | None = None,
        probes: int | None = None,
    ) -> tuple[Vectors, Rows]:
        """Return approximate scores and rows, both [queries, k], best first; row -1 where none.

        Args:
            queries: float32 [queries, dimension], of length 1.
            k: Rows wanted.
            selected: bool [rows]: only these; all where None.
            probes: Clusters to look at; what fits `selected` where None.
        """
        if selected is None:
            parameters = _parameters(probes or self.probes, max(4.0, self.first_pass / k))
        else:
            parameters = _parameters.__wrapped__(
                probes or self._probes_for(selected),
                max(4.0, self.first_pass / k),
                bitmap_selector(selected),
            )
        scores, rows = self.index.search(queries, k, params=parameters)
        return scores, rows

    def _probes_for(self, selected: npt.NDArray[np.bool_]) -> int:
        # The neighbours among a part of the vectors lie further away: as many comparisons as
        # without a filter need as many more clusters as vectors are left out.
        share = np.count_nonzero(selected) / len(selected)
        return min(self.clusters, math.ceil(self.probes / max(share, 1e-9)))


def cluster_count(rows: int) -> int:
    """Return how many clusters suit `rows` vectors: twice the root, as larger ones scan faster."""
    return max(1, min(int(2 * math.sqrt(rows)), rows // ROWS_A_CENTROID))


def training_rows(rows: int) -> int:
    """Return how many of `rows` vectors `train` wants to see."""
    return min(rows, max(cluster_count(rows) * ROWS_A_CENTROID, PQ_TRAINING_ROWS))


def train(sample: Vectors, rows: int) -> Clusters:
    """Return empty clusters for about `rows` vectors that are like `sample`.

    Args:
        sample: float32 [`training_rows(rows)`, dimension], of length 1, in no order.
        rows: How many will be added.
    """
    dimension = sample.shape[1]
    count = min(cluster_count(rows), len(sample))
    centroids = faiss.IndexFlatIP(dimension)
    kmeans = faiss.Clustering(dimension, count)
    kmeans.spherical = True  # the vectors have length 1, and so have their means
    kmeans.niter = KMEANS_ROUNDS
    kmeans.seed = 1
    kmeans.min_points_per_centroid = 1  # a small corpus is no reason for FAISS to print a warning
    kmeans.max_points_per_centroid = ROWS_A_CENTROID
    kmeans.train(sample, _on_gpu(centroids))
    centroids.reset()
    centroids.add(faiss.vector_to_array(kmeans.centroids).reshape(count, dimension))
    parts = dimension // 2 if dimension % 2 == 0 else dimension
    scan = faiss.IndexIVFPQFastScan(
        centroids, dimension, count, parts, 4, faiss.METRIC_INNER_PRODUCT
    )
    refine = faiss.IndexScalarQuantizer(
        dimension, faiss.ScalarQuantizer.QT_8bit, faiss.METRIC_INNER_PRODUCT
    )
    scan.pq.cp.min_points_per_centroid = 1  # as above
    scan.train(sample[:PQ_TRAINING_ROWS])
    refine.train(sample)
    index = faiss.IndexRefine(scan, refine)
    # FAISS holds plain pointers, which Python would free with the objects here; it owns them now.
    for part, owner in ((centroids, scan), (scan, index), (refine, index)):
        part.this.disown()
        setattr(owner, "own_refine_index" if part is refine else "own_fields", True)
    return Clusters(index, probes=count, first_pass=FIRST_PASS, recall=1.0)


@functools.lru_cache(maxsize=64)
def _parameters(probes: int, factor: float, selector: object = None) -> object:
    """Return what FAISS takes for a search; to make it anew costs as much as reading ten rows."""
    scan = faiss.SearchParametersIVF(nprobe=probes, sel=selector)
    return faiss.IndexRefineSearchParameters(k_factor=factor, base_index_params=scan)


def _on_gpu(index: Any) -> Any:  # noqa: ANN401 - FAISS has no types
    """Return `index` on the GPUs where FAISS has some: k-means spends its time in it."""
    if getattr(faiss, "get_num_gpus", lambda: 0)() == 0:
        return index
    return faiss.index_cpu_to_all_gpus(index)  # pragma: no cover - needs a GPU
