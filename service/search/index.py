"""Nearest neighbours of one corpus in memory, kept equal to its store.

Rows are numbered in the order in which they were added: first those in clusters, if there are any
(`service.search.clusters`), then a flat tail of those that came since. Every new vector goes to the
tail, where it is found exactly and at once; `absorb` moves it into the clusters later. A corpus
without clusters is all tail: that is the exact index.

Keys only ever grow, so the keys of the rows are an ascending array and a key is found in it by
bisection: no map from ids to rows is kept, neither here nor in FAISS (`IndexIDMap2` rebuilds a hash
map at each removal). A removed row is first only marked, and left out by a bitmap in each search.
When an eighth of the tail is marked it is taken out in one pass, so a removal costs O(1) rows on
average; clusters with an eighth marked are to be built anew.

Nothing here locks: searches may run side by side, a change must run alone.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from service.errors import StorageError
from service.inference.session import Vectors
from service.search.clusters import Clusters
from service.search.index_file import IndexHeader, read_index_file, write_index_file
from service.search.native import faiss
from service.search.policy import IndexPolicy
from service.search.snapshot import Keys, Snapshot
from service.search.store import Change

NO_KEY = -1
"""Stands where a query has fewer neighbours than were asked for."""

NEVER = -1
"""Generation of an index that no store's state was put into yet."""

DEAD_SHARE = 8
"""Marked rows are taken out when they are one in so many."""

GROWTH = 4
"""Clusters are built anew when they hold so many times the vectors that they were made for."""

ABSORB_FROM = 512
"""A tail of so many rows goes into the clusters; a shorter one costs a search next to nothing."""

EXACT_AT_ONCE = 64
"""Queries that are ranked by stored vectors together."""

StoredVectors: TypeAlias = Callable[[Keys], Vectors]
"""Reads the vectors of keys from the store."""

_Found: TypeAlias = tuple[Vectors, npt.NDArray[np.int64]]
_Mask: TypeAlias = npt.NDArray[np.bool_]

_log = logging.getLogger(__name__)


class VectorIndex:
    """The neighbours of a query by inner product.

    Args:
        dimension: Width of the vectors, which have length 1; the inner product is their cosine.
        policy: When to cluster, and how well.
    """

    def __init__(self, dimension: int, policy: IndexPolicy | None = None) -> None:
        self.dimension = dimension
        self.policy = policy or IndexPolicy()
        self.generation = NEVER
        self.unsaved = 0  # rows added or removed since it was last read or written
        self.history = object()  # another one when keys come that are not greater than all before
        self.layout = object()  # another one when rows get new numbers
        self._clusters: Clusters | None = None
        self._built_rows = 0  # in the clusters when they were built
        self._tail = faiss.IndexFlatIP(dimension)
        self._rows = 0
        self._dead = 0
        # Both are longer than `_rows`, so that adding one row at a time stays cheap.
        self._keys: Keys = np.empty(0, dtype=np.int64)
        self._alive: _Mask = np.empty(0, dtype=np.bool_)

    def __len__(self) -> int:
        return self._rows - self._dead

    @property
    def last_key(self) -> int:
        """The greatest key of its rows, removed ones too; 0 where there are none."""
        return int(self._keys[self._rows - 1]) if self._rows else 0

    @property
    def kind(self) -> Literal["flat", "ivf"]:
        """`flat` where every vector is compared, `ivf` where there are clusters."""
        return "flat" if self._clusters is None else "ivf"

    @property
    def recall(self) -> float:
        """The share of the true ten nearest that it found when it was built; 1 for flat."""
        return 1.0 if self._clusters is None else self._clusters.recall

    @property
    def due(self) -> Literal["build", "absorb"] | None:
        """What is to be done to keep searches fast: see `service.search.live_index`."""
        head = self._head
        if not self.policy.wants_clusters(len(self)):
            return None
        if not head or self._rows > GROWTH * self._built_rows:
            return "build"
        if np.count_nonzero(~self._alive[:head]) * DEAD_SHARE >= head:
            return "build"
        return "absorb" if self._rows - head >= ABSORB_FROM else None

    @property
    def keys(self) -> Keys:
        """The keys it holds, ascending."""
        kept: Keys = self._keys[: self._rows][self._alive[: self._rows]]
        return kept

    def add(self, keys: Keys, vectors: Vectors) -> None:
        """Add `vectors` [n, dimension] under `keys` [n], ascending and greater than any before."""
        if not len(keys):
            return
        if np.any(np.diff(keys) <= 0) or (self._rows and keys[0] <= self._keys[self._rows - 1]):
            raise ValueError("keys must grow; this is a bug")
        self._tail.add(np.ascontiguousarray(vectors, dtype=np.float32))
        end = self._rows + len(keys)
        if end > len(self._keys):
            self._keys = np.resize(self._keys, max(end, 2 * len(self._keys)))
            self._alive = np.resize(self._alive, len(self._keys))
        self._keys[self._rows : end] = keys
        self._alive[self._rows : end] = True
        self._rows = end
        self.unsaved += len(keys)

    def remove(self, keys: Keys) -> None:
        """Remove those of `keys` that are there."""
        rows = self._rows_of(keys)
        self._alive[rows] = False
        self._dead += len(rows)
        self.unsaved += len(rows)
        tail = self._alive[self._head : self._rows]
        if np.count_nonzero(~tail) * DEAD_SHARE >= len(tail):
            self.compact()

    def follow(self, change: Change) -> None:
        """Do what a write to the store did."""
        self.remove(change.removed)
        self.add(change.added, change.vectors)
        self.generation = change.generation

    def catch_up(self, snapshot: Snapshot, generation: int) -> None:
        """Become equal to the store in `snapshot`, which has `generation`, by what differs."""
        if generation == self.generation:
            return
        wanted = snapshot.keys()
        self.remove(np.setdiff1d(self.keys, wanted, assume_unique=True))
        self.compact()
        missing: Keys = np.setdiff1d(wanted, self.keys, assume_unique=True)
        if len(missing) and len(self) and missing[0] < self.keys[-1]:
            # Only where the clock was set back and an older copy put in the file's place.
            self._tail.reset()
            self._clusters = None
            self._rows, self._dead, missing = 0, 0, wanted
            self.history = self.layout = object()
        for keys, vectors in snapshot.vector_batches(missing):
            self.add(keys, vectors)
        self.generation = generation

    def search(
        self,
        queries: Vectors,
        k: int,
        *,
        selected: _Mask | None = None,
        stored: StoredVectors | None = None,
    ) -> tuple[Vectors, Keys]:
        """Return scores and keys, both [queries, at most k], best first.

        Args:
            queries: float32 [queries, dimension].
            k: Neighbours wanted, at least 1.
            selected: bool [rows], of `mask_of`: only these; all where None.
            stored: Reads the vectors that the best of the clusters are ranked by; without it
                their scores are good to about 0.01.

        Returns:
            As many columns as a query can have neighbours; a row that has fewer ends in NO_KEY.
        """
        alive = self._alive[: self._rows]
        selected = alive if selected is None else selected & alive
        k = min(k, int(np.count_nonzero(selected)))
        if not k or not len(queries):
            return (
                np.empty((len(queries), 0), dtype=np.float32),
                np.empty((len(queries), 0), dtype=np.int64),
            )
        # OpenMP keeps this number a thread, so it is set where the search runs: other searches and
        # the encoder's threads are using the other cores.
        faiss.omp_set_num_threads(1)
        head = self._head
        found = self._search_tail(queries, k, selected[head:])
        if self._clusters is not None:
            clustered = self._search_clusters(self._clusters, queries, k, selected[:head], stored)
            found = _best_of(found, clustered, k)
        scores, rows = found
        keys: Keys = np.where(rows < 0, NO_KEY, self._keys[rows])
        return np.clip(scores, -1.0, 1.0), keys

    def mask_of(self, keys: Keys) -> _Mask:
        """Return bool [rows]: those of `keys`, ascending, that are there."""
        mask = np.zeros(self._rows, dtype=np.bool_)
        mask[self._rows_of(keys)] = True
        return mask

    def absorb(self, limit: int) -> None:
        """Move the first `limit` rows of the tail into the clusters."""
        assert self._clusters is not None, "there are clusters; this is a bug"
        limit = min(limit, self._rows - self._head)
        self._clusters.add(self._tail.reconstruct_n(0, limit))
        self._tail.remove_ids(faiss.IDSelectorRange(0, limit))

    def compact(self) -> None:
        """Take out the rows of the tail that are only marked as removed."""
        head = self._head
        dead = ~self._alive[head : self._rows]
        count = int(np.count_nonzero(dead))
        if not count:
            return
        self._tail.remove_ids(_selector(dead))
        kept = np.concatenate([np.ones(head, dtype=np.bool_), ~dead])
        self._keys = self._keys[: self._rows][kept]
        self._alive = self._alive[: self._rows][kept]
        self._rows = len(self._keys)
        self._dead -= count
        self.layout = object()

    def save(self, path: Path) -> None:
        """Write it to `path`; a failure is raised as StorageError and costs nothing else."""
        clusters = self._clusters
        header = IndexHeader(
            dimension=self.dimension,
            rows=self._rows,
            generation=self.generation,
            clustered=self._head,
            built=self._built_rows,
            probes=clusters.probes if clusters else 1,
            first_pass=clusters.first_pass if clusters else 1,
            recall=self.recall,
        )
        parts = [self._tail] if clusters is None else [self._tail, clusters.index]
        write_index_file(path, header, self._keys[: self._rows], self._alive[: self._rows], parts)
        self.unsaved = 0

    @property
    def _head(self) -> int:
        return 0 if self._clusters is None else len(self._clusters)

    def _search_tail(self, queries: Vectors, k: int, selected: _Mask) -> _Found:
        count = int(np.count_nonzero(selected))
        if not count:
            return (
                np.empty((len(queries), 0), dtype=np.float32),
                np.empty((len(queries), 0), dtype=np.int64),
            )
        scores, rows = self._tail.search(queries, min(k, count), params=_only(selected, count))
        return scores, np.where(rows < 0, NO_KEY, rows + self._head)

    def _search_clusters(
        self,
        clusters: Clusters,
        queries: Vectors,
        k: int,
        selected: _Mask,
        stored: StoredVectors | None,
    ) -> _Found:
        count = int(np.count_nonzero(selected))
        wanted = min(k, count)
        mask = None if count == len(selected) else selected
        depth = min(count, k + max(8, k // 2))
        scores, rows = clusters.search(queries, depth, selected=mask)
        short = np.count_nonzero(rows >= 0, axis=1) < wanted
        if short.any():
            # There are more than the nearest clusters hold, so all are looked at.
            scores[short], rows[short] = clusters.search(
                queries[short], depth, selected=mask, probes=clusters.clusters
            )
        if stored is not None:
            for start in range(0, len(queries), EXACT_AT_ONCE):
                part = slice(start, start + EXACT_AT_ONCE)
                scores[part] = self._exact_scores(queries[part], rows[part], stored)
        return scores, rows

    def _exact_scores(
        self, queries: Vectors, rows: npt.NDArray[np.int64], stored: StoredVectors
    ) -> Vectors:
        unique, places = np.unique(rows, return_inverse=True)
        vectors = np.zeros((len(unique), self.dimension), dtype=np.float32)
        real = unique >= 0
        vectors[real] = stored(self._keys[unique[real]])
        exact = np.einsum("qd,qkd->qk", queries, vectors[places.reshape(rows.shape)])
        scores: Vectors = np.where(rows < 0, -np.inf, exact).astype(np.float32)
        return scores

    def _rows_of(self, keys: Keys) -> npt.NDArray[np.intp]:
        used = self._keys[: self._rows]
        rows: npt.NDArray[np.intp] = np.searchsorted(used, keys)
        inside = rows < self._rows
        rows, keys = rows[inside], keys[inside]
        found: npt.NDArray[np.intp] = rows[(used[rows] == keys) & self._alive[rows]]
        return found


def clustered_index(
    clusters: Clusters, keys: Keys, *, generation: int, policy: IndexPolicy
) -> VectorIndex:
    """Return an index of `clusters`, which hold the vectors of `keys`, ascending, in that order."""
    index = VectorIndex(clusters.dimension, policy)
    index.generation = generation
    index._clusters, index._built_rows = clusters, len(keys)
    index._keys, index._rows = keys, len(keys)
    index._alive = np.ones(len(keys), dtype=np.bool_)
    index.unsaved = len(keys)
    return index


def load_index(path: Path, dimension: int, policy: IndexPolicy | None = None) -> VectorIndex:
    """Return the index saved in `path`; an empty one where it is missing or damaged."""
    index = VectorIndex(dimension, policy)
    try:
        saved = read_index_file(path)
    except FileNotFoundError:
        return index
    except (OSError, StorageError) as error:
        _log.warning("%s", error)
        return index
    header = saved.header
    if header.dimension != dimension or np.any(np.diff(saved.keys) <= 0):
        _log.warning("The index %s belongs to another corpus; it is built again.", path)
        return index
    index.generation = header.generation
    index._tail, index._built_rows = saved.parts[0], header.built
    if header.clustered:
        index._clusters = Clusters(
            saved.parts[1],
            probes=header.probes,
            first_pass=header.first_pass,
            recall=header.recall,
        )
    index._keys, index._rows, index._alive = saved.keys, header.rows, saved.alive
    index._dead = header.rows - int(np.count_nonzero(saved.alive))
    return index


def _best_of(one: _Found, other: _Found, k: int) -> _Found:
    """Return the `k` best of two answers, best first; missing rows come last."""
    scores = np.concatenate([one[0], other[0]], axis=1)
    rows = np.concatenate([one[1], other[1]], axis=1)
    scores = np.where(rows < 0, -np.inf, scores)
    order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    best = np.take_along_axis(scores, order, axis=1).astype(np.float32)
    return best, np.take_along_axis(rows, order, axis=1)


def _only(selected: _Mask, count: int) -> object:
    # Without a selector FAISS compares a batch of queries by one matrix product: much faster.
    if count == len(selected):
        return None
    return faiss.SearchParameters(sel=_selector(selected))


def _selector(selected: _Mask) -> object:
    return faiss.IDSelectorBitmap(np.packbits(selected, bitorder="little"))
