"""Nearest neighbours of one corpus in memory, kept equal to its store.

Rows of the FAISS index are numbered in the order in which they were added. Keys only ever grow, so
the keys of the rows are an ascending array and a key is found in it by bisection: no map from ids
to rows is kept, neither here nor in FAISS (`IndexIDMap2` rebuilds a hash map at each removal). A
removed row is first only marked, and left out by a bitmap in each search; when an eighth of the
rows are marked they are taken out in one pass, so a removal costs O(1) rows on average. Indexes
that cannot remove at all, such as graphs, fit the same scheme.

Nothing here locks: searches may run side by side, a change must run alone.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from service.errors import StorageError
from service.inference.session import Vectors
from service.search.index_file import IndexHeader, read_index_file, write_index_file
from service.search.native import faiss
from service.search.snapshot import Keys, Snapshot
from service.search.store import Change

NO_KEY = -1
"""Stands where a query has fewer neighbours than were asked for."""

NEVER = -1
"""Generation of an index that no store's state was put into yet."""

DEAD_SHARE = 8
"""Marked rows are taken out when they are one in so many."""

_log = logging.getLogger(__name__)


class VectorIndex:
    """An exact index: every vector is compared with the query by inner product.

    Args:
        dimension: Width of the vectors, which have length 1; the inner product is their cosine.
    """

    kind: Literal["flat"] = "flat"

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self.generation = NEVER
        self.unsaved = 0  # rows added or removed since it was last read or written
        self._faiss = faiss.IndexFlatIP(dimension)
        self._rows = 0
        self._dead = 0
        # Both are longer than `_rows`, so that adding one row at a time stays cheap.
        self._keys: Keys = np.empty(0, dtype=np.int64)
        self._alive: npt.NDArray[np.bool_] = np.empty(0, dtype=np.bool_)

    def __len__(self) -> int:
        return self._rows - self._dead

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
        self._faiss.add(np.ascontiguousarray(vectors, dtype=np.float32))
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
        if self._dead * DEAD_SHARE >= self._rows:
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
            self._faiss.reset()
            self._rows, missing = 0, wanted
        for keys, vectors in snapshot.vector_batches(missing):
            self.add(keys, vectors)
        self.generation = generation

    def search(
        self, queries: Vectors, k: int, *, allowed: Keys | None = None
    ) -> tuple[Vectors, Keys]:
        """Return scores and keys, both [queries, at most k], best first.

        Args:
            queries: float32 [queries, dimension].
            k: Neighbours wanted, at least 1.
            allowed: Only these keys, ascending; all where None.

        Returns:
            As many columns as a query can have neighbours; a row that has fewer ends in NO_KEY.
        """
        selected = self._alive[: self._rows]
        candidates = len(self)
        if allowed is not None:
            rows = self._rows_of(allowed)
            candidates = len(rows)
            selected = np.zeros(self._rows, dtype=np.bool_)
            selected[rows] = True
        k = min(k, candidates)
        if not k or not len(queries):
            return (
                np.empty((len(queries), 0), dtype=np.float32),
                np.empty((len(queries), 0), dtype=np.int64),
            )
        # OpenMP keeps this number a thread, so it is set where the search runs: other searches and
        # the encoder's threads are using the other cores.
        faiss.omp_set_num_threads(1)
        scores, rows = self._faiss.search(queries, k, params=_only(selected, candidates))
        keys: Keys = np.where(rows < 0, NO_KEY, self._keys[rows])
        return np.clip(scores, -1.0, 1.0), keys

    def compact(self) -> None:
        """Take out the rows that are only marked as removed."""
        if not self._dead:
            return
        dead = ~self._alive[: self._rows]
        self._faiss.remove_ids(_selector(dead))
        self._keys = self.keys
        self._rows = len(self._keys)
        self._alive = np.ones(self._rows, dtype=np.bool_)
        self._dead = 0

    def save(self, path: Path) -> None:
        """Write it to `path`; a failure is raised as StorageError and costs nothing else."""
        header = IndexHeader(
            kind=self.kind,
            dimension=self.dimension,
            rows=self._rows,
            # The file cannot mark rows, so with removed ones in it equals no state of the store.
            generation=NEVER if self._dead else self.generation,
        )
        write_index_file(path, header, self._keys[: self._rows], self._faiss)
        self.unsaved = 0

    def _rows_of(self, keys: Keys) -> npt.NDArray[np.intp]:
        used = self._keys[: self._rows]
        rows: npt.NDArray[np.intp] = np.searchsorted(used, keys)
        inside = rows < self._rows
        rows, keys = rows[inside], keys[inside]
        found: npt.NDArray[np.intp] = rows[(used[rows] == keys) & self._alive[rows]]
        return found


def load_index(path: Path, dimension: int) -> VectorIndex:
    """Return the index saved in `path`; an empty one where it is missing or damaged."""
    index = VectorIndex(dimension)
    try:
        header, keys, saved = read_index_file(path)
    except FileNotFoundError:
        return index
    except (OSError, StorageError) as error:
        _log.warning("%s", error)
        return index
    if header.dimension != dimension or np.any(np.diff(keys) <= 0):
        _log.warning("The index %s belongs to another corpus; it is built again.", path)
        return index
    index.generation = header.generation
    index._faiss, index._keys, index._rows = saved, keys, len(keys)
    index._alive = np.ones(len(keys), dtype=np.bool_)
    return index


def _only(selected: npt.NDArray[np.bool_], count: int) -> object:
    # Without a selector FAISS compares a batch of queries by one matrix product: much faster.
    if count == len(selected):
        return None
    return faiss.SearchParameters(sel=_selector(selected))


def _selector(selected: npt.NDArray[np.bool_]) -> object:
    return faiss.IDSelectorBitmap(np.packbits(selected, bitorder="little"))
