"""Take marked rows out of an index while it is searched and written to.

What is left of its tail is copied a slice at a time, each under a lock that searches share and that
a write waits for a few milliseconds. Then the copy takes the tail's place: that needs the lock
alone, but only for what was added since the last slice and for the keys.
"""

from __future__ import annotations

import numpy as np

from service.search.index import VectorIndex
from service.search.native import faiss
from service.search.rows import Mask

SLICE_ROWS = 4_096
"""Copied under one hold of the lock: some 6 MB."""


class Compaction:
    """One pass over the tail of `index`."""

    def __init__(self, index: VectorIndex) -> None:
        self._index = index
        self._layout = index.layout
        self._fresh = faiss.IndexFlatIP(index.dimension)
        self._gone: list[Mask] = []
        self._done = 0

    def copy_slice(self) -> bool:
        """Copy the next rows; return whether there may be more. Others may search, not write."""
        if self._index.layout is not self._layout:
            return False
        vectors, alive = self._index.tail_slice(self._done, SLICE_ROWS)
        self._fresh.add(np.ascontiguousarray(vectors[alive]))
        self._gone.append(~alive)
        self._done += len(alive)
        return len(alive) == SLICE_ROWS

    def finish(self) -> None:
        """Put the copy in place; nobody else may use the index. Rows marked meanwhile stay so."""
        while self.copy_slice():
            pass
        # Rows have other numbers after another process wrote: then there is nothing left to do.
        if self._index.layout is self._layout:
            self._index.replace_tail(self._fresh, np.concatenate(self._gone))
