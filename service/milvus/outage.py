"""Whether the engine answers, so that a lost one holds up few requests."""

from __future__ import annotations

import threading


class Outage:
    """Lets every call through, or, once one was not answered, one at a time until one is.

    That one goes on asking for as long as a call may take; the others are refused at once, instead
    of keeping their threads, and those of requests that need no engine, for as long. An engine
    that is back within that time is hardly noticed. (A circuit breaker, Nygard 2007, Release It!,
    5.2, whose half-open state is never left alone.)
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lasts = False
        self._asked = False

    def admits(self) -> bool:
        """Return whether the caller may ask the engine; if so, it must say what became of it."""
        with self._lock:
            if not self._lasts:
                return True
            if self._asked:
                return False
            self._asked = True
            return True

    def settle(self, *, answered: bool) -> None:
        """Note what became of a call that was let through."""
        with self._lock:
            self._lasts = not answered
            self._asked = False
