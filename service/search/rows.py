"""Which key is in which row of an index, and which rows are marked as removed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from service.search.snapshot import Keys

Mask = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.intp]
"""Of rows."""


@dataclass(frozen=True, slots=True)
class Findable:
    """Rows of one part of an index that a search may find.

    Attributes:
        mask: bool [rows of the part]; None where it may find all.
        count: How many.
    """

    mask: Mask | None
    count: int


class KeyedRows:
    """Rows 0, 1, ..., each with a key that is greater than that of the row before.

    So a key is found by bisection, and no map from keys to rows is kept.

    Args:
        keys: int64 [rows], ascending.
        alive: bool [rows], false for those that are marked; none is where it is left out.
    """

    def __init__(self, keys: Keys | None = None, alive: Mask | None = None) -> None:
        # Both may be longer than `_count`, so that adding one row at a time stays cheap.
        self._keys: Keys = np.empty(0, dtype=np.int64) if keys is None else keys
        self._alive: Mask = np.ones(len(self._keys), dtype=np.bool_) if alive is None else alive
        self._count = len(self._keys)
        self.dead = self.dead_in(0)

    def __len__(self) -> int:
        return self._count

    @property
    def keys(self) -> Keys:
        """Keys, int64 [rows]: of marked rows, too."""
        return self._keys[: self._count]

    @property
    def alive(self) -> Mask:
        """Marks, bool [rows]: false for a marked row."""
        return self._alive[: self._count]

    @property
    def last_key(self) -> int:
        """The greatest key, of a marked row maybe; 0 where there are no rows."""
        return int(self._keys[self._count - 1]) if self._count else 0

    def kept_keys(self) -> Keys:
        """Return the keys of the rows that are not marked."""
        kept: Keys = self.keys[self.alive]
        return kept

    def append(self, keys: Keys) -> None:
        """Add rows at the end."""
        if np.any(np.diff(keys) <= 0) or (self._count and keys[0] <= self.last_key):
            raise ValueError("keys must grow; this is a bug")
        end = self._count + len(keys)
        if end > len(self._keys):
            self._keys = np.resize(self._keys, max(end, 2 * len(self._keys)))
            self._alive = np.resize(self._alive, len(self._keys))
        self._keys[self._count : end] = keys
        self._alive[self._count : end] = True
        self._count = end

    def find(self, keys: Keys) -> Numbers:
        """Return the rows of those of `keys` that are there and not marked."""
        used = self.keys
        rows: Numbers = np.searchsorted(used, keys)
        inside = rows < self._count
        rows, keys = rows[inside], keys[inside]
        found: Numbers = rows[(used[rows] == keys) & self._alive[rows]]
        return found

    def mark(self, rows: Numbers) -> None:
        """Mark `rows`, none of which is."""
        self._alive[rows] = False
        self.dead += len(rows)

    def dead_in(self, start: int, end: int | None = None) -> int:
        """Return how many rows from `start` to before `end` are marked."""
        part = self._alive[start : self._count if end is None else end]
        return len(part) - int(np.count_nonzero(part))

    def findable(self, selected: Mask | None, start: int, end: int, dead: int) -> Findable:
        """Return which rows from `start` to before `end` may be found; `dead` of them are marked.

        To look at every mark takes as long as a tenth of a search, so it is not done in vain.

        Args:
            selected: bool [all rows]: only these; all where None.
            start: The first row of the part.
            end: The row after its last.
            dead: How many of the part are marked.
        """
        alive = self.alive[start:end]
        if selected is None:
            return Findable(alive if dead else None, end - start - dead)
        mask = selected[start:end] & alive if dead else selected[start:end]
        count = int(np.count_nonzero(mask))
        return Findable(None if count == end - start else mask, count)

    def drop(self, gone: Mask) -> None:
        """Take out the rows for which `gone` [rows] is true; those behind them move up."""
        self._keys, self._alive = self.keys[~gone], self.alive[~gone]
        self._count = len(self._keys)
        self.dead = self.dead_in(0)
