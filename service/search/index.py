"""Nearest neighbours of one corpus in memory, kept equal to its store.

Rows are numbered in the order in which they were added: first those in clusters, if there are any
(`service.search.clusters`), then a flat tail of those that came since. Every new vector goes to the
tail, where it is found exactly and at once; `absorb` moves it into the clusters later. A corpus
without clusters is all tail: that is the exact index.

Keys only ever grow, so the keys of the rows are an ascending array (`service.search.rows`): no map
from ids to rows is kept, neither here nor in FAISS (`IndexIDMap2` rebuilds a hash map at each
removal). A removed row is first only marked, and left out by a bitmap in each search. When an
eighth of the tail is marked it is taken out, at once where the tail is short, else by
`service.search.compaction` a slice at a time; clusters with an eighth marked are to be built anew.

Nothing here locks: searches may run side by side, a change must run alone.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from service.errors import StorageError
from service.inference.session import Vectors
from service.search.clusters import Clusters
from service.search.found import Found, best_of
from service.search.gpu import GpuCopy
from service.search.index_file import IndexHeader, read_index_file, write_index_file
from service.search.native import bitmap_selector, faiss
from service.search.policy import IndexPolicy
from service.search.rows import Findable, KeyedRows, Mask
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

COMPACT_AT_ONCE = 4_096
"""A tail of up to so many rows is compacted within the removal: a millisecond or two."""

EXACT_AT_ONCE = 64
"""Queries that are ranked by stored vectors together."""

StoredVectors: TypeAlias = Callable[[Keys], Vectors]
"""Reads the vectors of keys from the store."""

_log = logging.getLogger(__name__)


class VectorIndex:
    """The neighbours of a query by inner product.

    Args:
        dimension: Width of the vectors, which have length 1; the inner product is their cosine.
        policy: When to cluster, and how well.
    """

    def __init__(self, dimension: int, policy: IndexPolicy | None = None) -> None:
        self.dimension = dimension
        self.gpu: GpuCopy | None = None  # searches the tail where it can
        self.policy = policy or IndexPolicy()
        self.generation = NEVER
        self.unsaved = 0  # rows added or removed since it was last read or written
        self.history = object()  # another one when keys come that are not greater than all before
        self.layout = object()  # another one when rows get new numbers
        self._clusters: Clusters | None = None
        self._built_rows = 0  # in the clusters when they were built
        self._tail = faiss.IndexFlatIP(dimension)
        self._rows = KeyedRows()
        self._dead_tail = 0  # of the marked rows

    def __len__(self) -> int:
        return len(self._rows) - self._rows.dead

    @property
    def last_key(self) -> int:
        """The greatest key of its rows, removed ones too; 0 where there are none."""
        return self._rows.last_key

    @property
    def kind(self) -> Literal["flat", "ivf"]:
        """`flat` where every vector is compared, `ivf` where there are clusters."""
        return "flat" if self._clusters is None else "ivf"

    @property
    def recall(self) -> float:
        """The share of the true ten nearest that it found when it was built; 1 for flat."""
        return 1.0 if self._clusters is None else self._clusters.recall

    @property
    def due(self) -> Literal["build", "compact", "absorb"] | None:
        """What is to be done to keep searches fast: see `service.search.live_index`."""
        head, rows = self._head, len(self._rows)
        clustered = self.policy.wants_clusters(len(self))
        if clustered and (
            not head
            or rows > GROWTH * self._built_rows
            or (self._rows.dead - self._dead_tail) * DEAD_SHARE >= head
        ):
            return "build"
        if self._dead_tail and self._dead_tail * DEAD_SHARE >= rows - head:
            return "compact"
        return "absorb" if clustered and rows - head >= ABSORB_FROM else None

    @property
    def keys(self) -> Keys:
        """The keys it holds, ascending."""
        return self._rows.kept_keys()

    def add(self, keys: Keys, vectors: Vectors) -> None:
        """Add `vectors` [n, dimension] under `keys` [n], ascending and greater than any before."""
        if not len(keys):
            return
        self._rows.append(keys)
        self._tail.add(np.ascontiguousarray(vectors, dtype=np.float32))
        self.unsaved += len(keys)

    def remove(self, keys: Keys) -> None:
        """Remove those of `keys` that are there."""
        if not len(keys):
            return
        rows = self._rows.find(keys)
        self._rows.mark(rows)
        self._dead_tail += int(np.count_nonzero(rows >= self._head))
        self.unsaved += len(rows)
        tail = len(self._rows) - self._head
        if self._dead_tail * DEAD_SHARE >= tail and tail <= COMPACT_AT_ONCE:
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
        if len(missing) and missing[0] <= self.last_key:
            # An older copy of the database was put in the place of the one this index was made of.
            self._tail.reset()
            self._forget_gpu()
            self._clusters = None
            self._rows, self._dead_tail, missing = KeyedRows(), 0, wanted
            self.history = self.layout = object()
        for keys, vectors in snapshot.vector_batches(missing):
            self.add(keys, vectors)
        self.generation = generation

    def search(
        self,
        queries: Vectors,
        k: int,
        *,
        selected: Mask | None = None,
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
        head = self._head
        among_tail = self._rows.findable(selected, head, len(self._rows), self._dead_tail)
        among_head = self._rows.findable(selected, 0, head, self._rows.dead - self._dead_tail)
        k = min(k, among_tail.count + among_head.count)
        if not k or not len(queries):
            return (
                np.empty((len(queries), 0), dtype=np.float32),
                np.empty((len(queries), 0), dtype=np.int64),
            )
        # OpenMP keeps this number a thread, so it is set where the search runs: other searches and
        # the encoder's threads are using the other cores.
        faiss.omp_set_num_threads(1)
        parts = []
        if among_tail.count:
            parts.append(self._search_tail(queries, k, among_tail))
        if self._clusters is not None and among_head.count:
            parts.append(self._search_clusters(self._clusters, queries, k, among_head, stored))
        scores, rows = best_of(parts, k)
        keys: Keys = self._rows.keys[rows]
        if (missing := rows < 0).any():
            keys[missing] = NO_KEY
        return np.minimum(np.maximum(scores, np.float32(-1)), np.float32(1)), keys

    def mask_of(self, keys: Keys) -> Mask:
        """Return bool [rows]: those of `keys`, ascending, that are there."""
        mask = np.zeros(len(self._rows), dtype=np.bool_)
        mask[self._rows.find(keys)] = True
        return mask

    def absorb(self, limit: int) -> None:
        """Move the first `limit` rows of the tail into the clusters."""
        assert self._clusters is not None, "there are clusters; this is a bug"
        head = self._head
        limit = min(limit, len(self._rows) - head)
        self._dead_tail -= self._rows.dead_in(head, head + limit)
        self._clusters.add(self._tail.reconstruct_n(0, limit))
        self._tail.remove_ids(faiss.IDSelectorRange(0, limit))
        self._forget_gpu()

    def compact(self) -> None:
        """Take out the rows of the tail that are only marked as removed."""
        if not self._dead_tail:
            return
        dead = ~self._rows.alive[self._head :]
        self._tail.remove_ids(bitmap_selector(dead))
        self._dropped(dead)

    def tail_slice(self, start: int, limit: int) -> tuple[Vectors, Mask]:
        """Return up to `limit` vectors of the tail from its row `start` on, and which are alive."""
        head, end = self._head, min(start + limit, self._tail.ntotal)
        vectors: Vectors = self._tail.reconstruct_n(start, end - start)
        return vectors, self._rows.alive[head + start : head + end].copy()

    def replace_tail(self, vectors: Any, gone: Mask) -> None:  # noqa: ANN401 - FAISS has no types
        """Put the flat index `vectors` in the tail's place: the rows that are not `gone` [tail]."""
        self._tail = vectors
        self._dropped(gone)

    def save(self, path: Path) -> None:
        """Write it to `path`; a failure is raised as StorageError and costs nothing else."""
        clusters = self._clusters
        header = IndexHeader(
            dimension=self.dimension,
            rows=len(self._rows),
            generation=self.generation,
            clustered=self._head,
            built=self._built_rows,
            probes=clusters.probes if clusters else 1,
            first_pass=clusters.first_pass if clusters else 1,
            recall=self.recall,
        )
        parts = [self._tail] if clusters is None else [self._tail, clusters.index]
        write_index_file(path, header, self._rows.keys, self._rows.alive, parts)
        self.unsaved = 0

    @property
    def _head(self) -> int:
        return 0 if self._clusters is None else len(self._clusters)

    def _dropped(self, gone: Mask) -> None:
        """Follow a tail from which the rows `gone` [tail] were taken out."""
        self._rows.drop(np.concatenate([np.zeros(self._head, dtype=np.bool_), gone]))
        self._dead_tail = self._rows.dead_in(self._head)
        self.layout = object()
        self._forget_gpu()

    def _forget_gpu(self) -> None:
        if self.gpu is not None:
            self.gpu.forget()

    def _search_tail(self, queries: Vectors, k: int, among: Findable) -> Found:
        # Without a selector FAISS compares a batch of queries by one matrix product: much faster.
        only = (
            None if among.mask is None else faiss.SearchParameters(sel=bitmap_selector(among.mask))
        )
        k = min(k, among.count)
        found = None
        if self.gpu is not None and only is None:
            found = self.gpu.search(self._tail, queries, k)
        scores, rows = found or self._tail.search(queries, k, params=only)
        return scores, np.where(rows < 0, NO_KEY, rows + self._head)

    def _search_clusters(
        self,
        clusters: Clusters,
        queries: Vectors,
        k: int,
        among: Findable,
        stored: StoredVectors | None,
    ) -> Found:
        depth = min(among.count, k + max(8, k // 2))
        scores, rows = clusters.search(queries, depth, selected=among.mask)
        short = rows[:, min(k, among.count) - 1] < 0  # the best come first
        if short.any():
            # There are more than the nearest clusters hold, so all are looked at.
            scores[short], rows[short] = clusters.search(
                queries[short], depth, selected=among.mask, probes=clusters.clusters
            )
        if stored is not None:
            for start in range(0, len(queries), EXACT_AT_ONCE):
                part = slice(start, start + EXACT_AT_ONCE)
                scores[part] = self._exact_scores(queries[part], rows[part], stored)
        return scores, rows

    def _exact_scores(
        self, queries: Vectors, rows: npt.NDArray[np.int64], stored: StoredVectors
    ) -> Vectors:
        keys = self._rows.keys
        if len(queries) == 1 and rows[0, -1] >= 0:  # the common case, in a third of the time
            single: Vectors = (stored(keys[rows[0]]) @ queries[0])[np.newaxis]
            return single
        unique, places = np.unique(rows, return_inverse=True)
        vectors = np.zeros((len(unique), self.dimension), dtype=np.float32)
        real = unique >= 0
        vectors[real] = stored(keys[unique[real]])
        exact = np.einsum("qd,qkd->qk", queries, vectors[places.reshape(rows.shape)])
        scores: Vectors = np.where(rows < 0, -np.inf, exact).astype(np.float32)
        return scores


def clustered_index(
    clusters: Clusters, keys: Keys, *, generation: int, policy: IndexPolicy
) -> VectorIndex:
    """Return an index of `clusters`, which hold the vectors of `keys`, ascending, in that order."""
    index = VectorIndex(clusters.dimension, policy)
    index.generation = generation
    index._clusters, index._built_rows = clusters, len(keys)
    index._rows = KeyedRows(keys)
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
    index._rows = KeyedRows(saved.keys, saved.alive)
    index._dead_tail = index._rows.dead_in(index._head)
    return index
