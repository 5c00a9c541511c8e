"""Turns to write: a few at a time for each corpus.

Who writes to a corpus may have to wait for another process that holds its database. That wait takes
a thread, and threads that all of them share would be used up by one such corpus.
"""

from __future__ import annotations

import asyncio
from weakref import WeakValueDictionary

WRITES_AT_ONCE = 4
"""For each corpus: the built-in engine commits one by one, a vector engine several at once."""


class Turns:
    """Gives out the turns of each corpus; those of one that nobody writes to are forgotten."""

    def __init__(self) -> None:
        self._of: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    def of(self, corpus: str) -> asyncio.Semaphore:
        """Return what is held while something is written to `corpus`."""
        turns = self._of.get(corpus)
        if turns is None:
            turns = self._of[corpus] = asyncio.Semaphore(WRITES_AT_ONCE)
        return turns
