"""How many requests are answered now, and of whom."""

from __future__ import annotations

from collections import Counter

from service.errors import OverloadedError
from service.inference.queue import CLIENT_SHARE


class Headcount:
    """Counts the requests that are answered now, and says whether one more may be.

    Args:
        most: Requests that may be answered at a time.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._total = 0
        self._answered: Counter[str] = Counter()

    def enter(self, client: str, *, alone: bool) -> None:
        """Count a request that is answered from now on; `leave` is to follow.

        Args:
            client: Whose it is; empty where nobody says.
            alone: Whether all may be this client's, as where nobody has a key.

        Raises:
            OverloadedError: There are too many already.
        """
        own = self._answered[client]
        if self._total >= self._most or not (alone or own < CLIENT_SHARE * self._most):
            whose = "yours" if client else "without a key"
            raise OverloadedError(
                f"{self._total} requests are answered now, {own} of them {whose}; "
                f"{self._most} may be.",
                retry_after_seconds=1.0,
            )
        self._total += 1
        self._answered[client] = own + 1

    def leave(self, client: str) -> None:
        """Count a request no more."""
        self._total -= 1
        self._answered[client] -= 1
        if not self._answered[client]:
            del self._answered[client]
