"""The index of an open corpus: searched, brought along with writes, tended and saved meanwhile.

How searches and writes keep out of each other's way:

- A writer holds `writing`, does all its work in SQLite, and only then takes `_lock` alone to commit
  and to bring the index to the same state. Searches wait for the sync to disk, no more.
- A search takes `_lock` together with other searches, and under it fixes its SQLite snapshot and
  asks the index. Both show the same state, so each neighbour's document is in the snapshot, and
  is read from it after the lock is let go.
- The generation tells whether that is so. It differs after another process wrote to the file, or
  when the index could not follow a write; then the search brings the index up to date first.
- A thread of low duty builds clusters beside the index that is in use, from a snapshot, and puts
  them in its place after the writes that came meanwhile; moves what was added into clusters, and
  takes out what was removed, a slice at a time; and saves. Only the saving holds writers up, and
  nothing does searches.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from service.errors import StorageError
from service.hardware import available_cores
from service.search.build import build_index
from service.search.compaction import Compaction
from service.search.gpu import GpuCopy
from service.search.index import VectorIndex, load_index
from service.search.locks import SharedLock
from service.search.native import faiss
from service.search.policy import IndexPolicy
from service.search.snapshot import Snapshot
from service.search.store import Change, Store, Transaction

SAVE_ROWS = 20_000
"""The index is saved after so many changes, or as many as half of its rows, and when closed."""

PAUSE_SECONDS = 0.01
"""Between two slices of background work: searches and writes first."""

ABSORB_AT_ONCE = 1_024
"""Rows that move into clusters while searches wait: some 30 ms."""

_log = logging.getLogger(__name__)


class LiveIndex:
    """The index of `store`, kept in `path`.

    Args:
        store: The truth.
        path: Of the index file, which may be missing.
        policy: When to cluster.
        gpu: Whether a GPU searches what is compared exactly.

    Raises:
        StorageError: The store cannot be read.
    """

    def __init__(self, store: Store, path: Path, policy: IndexPolicy, *, gpu: bool = False) -> None:
        self.writing = threading.Lock()
        self._store = store
        self._path = path
        self._lock = SharedLock()
        self._gpu = gpu
        self._index = self._equipped(load_index(path, store.header.dimension, policy))
        with store.snapshot() as snapshot:
            self._index.catch_up(snapshot, snapshot.begin())
        self._closed = False
        self._tendable = True  # False once that failed: not again before the next start
        self._save_after = 0  # so many changes, where saving failed
        self._missed: list[Change] | None = None  # by the clusters that are being built
        self._tending: threading.Thread | None = None
        self._mutex = threading.Lock()  # of `_tending`
        self._tend()

    @property
    def index(self) -> VectorIndex:
        """What is searched now."""
        return self._index

    @contextmanager
    def current(self, snapshot: Snapshot) -> Iterator[VectorIndex]:
        """Begin `snapshot` and lend the index in the same state."""
        with self._lock.shared():
            if snapshot.begin() == self._index.generation:
                yield self._index
                return
        with self._lock.exclusive():
            self._index.catch_up(snapshot, snapshot.begin())
            yield self._index
        self._tend()

    def commit(self, transaction: Transaction, change: Change) -> None:
        """Commit a write and follow it; the caller holds `writing`."""
        with self._lock.exclusive():
            transaction.commit()
            # Another process may have written since: then the next search catches up with both.
            if self._index.generation == change.before:
                try:
                    self._index.follow(change)
                except Exception:
                    # The write is durable and must be acknowledged; the next search, which finds
                    # an index of no generation, builds it anew.
                    _log.exception("The index %s is built again.", self._path)
                    empty = VectorIndex(self._index.dimension, self._index.policy)
                    self._index = self._equipped(empty)
            if self._missed is not None:
                self._missed.append(change)
        self._tend()

    def settle(self) -> None:
        """Wait until the clusters are built and the index is saved, as far as that is due."""
        while (thread := self._tending) is not None:
            thread.join()

    def retire(self) -> None:
        """Do no more by itself: the path of its file is another's. The caller holds `writing`."""
        self._closed = True

    def close(self, *, save: bool = True) -> None:
        """Save the index and close the store; waits for a write that is running."""
        self._closed = True
        with self.writing:
            if save and self._index.unsaved:
                self._save()
            with self._lock.exclusive():
                self._store.close()

    def _tend(self) -> None:
        """Start the thread that does what is due, where something is and it does not run."""
        with self._mutex:
            if self._tending is None and self._due() is not None:
                self._tending = threading.Thread(
                    target=self._do_what_is_due, name=f"index {self._path.parent.name}", daemon=True
                )
                self._tending.start()

    def _due(self) -> str | None:
        if self._closed:
            return None
        due = self._index.due
        if due is not None and self._tendable:
            return due
        unsaved = self._index.unsaved
        enough = unsaved >= max(SAVE_ROWS, len(self._index) // 2) and unsaved > self._save_after
        return "save" if enough else None

    def _do_what_is_due(self) -> None:
        faiss.omp_set_num_threads(max(1, available_cores() - 1))  # of this thread
        while True:
            with self._mutex:
                due = self._due()
                if due is None:
                    self._tending = None
                    return
            try:
                self._do(due)
            except Exception as error:
                if self._closed:
                    continue
                self._tendable = False
                _log.exception("The index %s stays as it is: %s", self._path, error)

    def _do(self, due: str) -> None:
        if due == "build":
            self._build()
        elif due == "absorb":
            with self._lock.exclusive():
                self._index.absorb(ABSORB_AT_ONCE)
            time.sleep(PAUSE_SECONDS)
        elif due == "compact":
            self._compact()
        else:
            with self.writing:
                if not self._closed:
                    self._save()

    def _compact(self) -> None:
        with self._lock.shared():
            compaction = Compaction(self._index)
        more = True
        while more:
            if self._closed:
                return
            with self._lock.shared():
                more = compaction.copy_slice()
            time.sleep(PAUSE_SECONDS)
        with self._lock.exclusive():
            compaction.finish()

    def _build(self) -> None:
        began = time.monotonic()
        with self._lock.exclusive():
            self._missed = []
        try:
            with self._store.snapshot() as snapshot:
                fresh = build_index(
                    snapshot,
                    snapshot.begin(),
                    policy=self._index.policy,
                    cancelled=lambda: self._closed,
                )
            if fresh is None:
                return
            with self._lock.exclusive():
                for change in self._missed:
                    if change.before == fresh.generation:
                        fresh.follow(change)
                # Where another process wrote meanwhile, the next search catches up.
                self._index, self._missed = self._equipped(fresh), None
        finally:
            with self._lock.exclusive():
                self._missed = None
        _log.info(
            "built %s: %d vectors, recall %.3f, %.1f s",
            self._path,
            len(fresh),
            fresh.recall,
            time.monotonic() - began,
        )

    def _equipped(self, index: VectorIndex) -> VectorIndex:
        if self._gpu:
            index.gpu = GpuCopy()
        return index

    def _save(self) -> None:
        # `writing` is held, so the index stays as it is; but for the thread here, which waits.
        if self._index.kind == "ivf":
            with self._lock.exclusive():  # a short tail goes along: searches are spared it
                self._index.absorb(ABSORB_AT_ONCE)
        try:
            with self._lock.shared():
                self._index.save(self._path)
            self._save_after = 0
        except StorageError as error:
            self._save_after = 2 * self._index.unsaved
            _log.warning("%s It is built again at the next start.", error)
