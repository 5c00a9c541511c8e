"""How fast a client may ask: a token bucket for each key that has a rate."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from service.errors import RateLimitError
from service.security.grants import Grant

BURST_SECONDS = 1.0
"""So much of a rate may come at once; at least one request."""


class Rates:
    """The buckets of all clients; one is as large as the rate of a second.

    Args:
        clock: Seconds that only move on.
    """

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        # Client -> (tokens at that time, that time). Only clients with a key that has a rate get
        # in, so it is no larger than the keys that were ever valid.
        self._buckets: dict[str, tuple[float, float]] = {}

    def spend(self, grant: Grant) -> None:
        """Take one request from the client's bucket.

        Raises:
            RateLimitError: It is empty; says when it will hold one again.
        """
        if grant.rate is None:
            return
        with self._lock:
            now = self._clock()
            size = max(1.0, grant.rate * BURST_SECONDS)
            tokens, then = self._buckets.get(grant.client, (size, now))
            tokens = min(size, tokens + (now - then) * grant.rate)
            if tokens >= 1:
                self._buckets[grant.client] = (tokens - 1, now)
                return
            self._buckets[grant.client] = (tokens, now)
        raise RateLimitError(
            f"This key may send {grant.rate:g} requests a second.",
            retry_after_seconds=(1 - tokens) / grant.rate,
        )
