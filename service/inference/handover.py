"""Calls from the threads that compute, made on the event loop."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable


class Handover:
    """Hands calls to an event loop, and wakes it once for all that are there when it looks.

    A batch ends many requests at a time; a wake for each costs more than the calls.

    Args:
        loop: Where the calls are made.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self._calls: deque[Callable[[], None]] = deque()
        self._woken = False

    def call(self, call: Callable[[], None]) -> None:
        """Have `call` made on the loop; from any thread."""
        self._calls.append(call)
        # Two threads may both wake it, which does no harm. None is missed: the loop forgets that
        # it was woken before it looks.
        if not self._woken:
            self._woken = True
            self.loop.call_soon_threadsafe(self._make_all)

    def _make_all(self) -> None:
        self._woken = False
        while self._calls:
            self._calls.popleft()()
