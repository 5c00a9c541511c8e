"""How many requests are answered now, and of whom."""

from __future__ import annotations

from collections import Counter

from service.errors import OverloadedError
from service.inference.queue import CLIENT_SHARE


class Headcount:
    """Counts the requests that are answered now, and says whether one more may be.

    Args:
        most: Requests that may be answered at a time.
        open_to_all: Whether nobody needs a key, so that all of them may be of one client.
    """

    def __init__(self, most: int, *, open_to_all: bool) -> None:
        self._most = most
        self._open_to_all = open_to_all
        self._answered: Counter[str] = Counter()

    def enter(self, client: str) -> None:
        """Count a request that is answered from now on; `leave` is to follow.

        Args:
            client: Whose it is; empty where nobody says.

        Raises:
            OverloadedError: There are too many already.
        """
        total, own = self._answered.total(), self._answered[client]
        alone = not client and self._open_to_all
        if total >= self._most or not (alone or own < CLIENT_SHARE * self._most):
            whose = "yours" if client else "without a key"
            raise OverloadedError(
                f"{total} requests are answered now, {own} of them {whose}; {self._most} may be.",
                retry_after_seconds=1.0,
            )
        self._answered[client] += 1

    def leave(self, client: str) -> None:
        """Count a request no more."""
        self._answered[client] -= 1
        if not self._answered[client]:
            del self._answered[client]
