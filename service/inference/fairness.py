"""Who is next: fair between clients, and between the jobs of a client.

Start-time fair queueing (Goyal, Vin & Cheng 1996) on two levels. Whatever waits has a virtual start
time; the earliest goes first, and each slice that is taken moves its owner's next start on by its
cost. A client with a trickle therefore waits for about one batch, whatever a flood of another has
put before it; the same holds for a single text and a thousand-text request of one client. Nothing
starves, since virtual time only moves on.

Jobs that nobody waits for with a socket open (fits, re-encodings) ask as `BACKGROUND`, whose slices
count several times their cost before and after: while others ask, it has a small share.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Iterator, Sequence

from service.inference.work import Slice

Entry = tuple[float, int, Slice]
Judge = Callable[[Slice], bool]
Wanted = Callable[[str, int], bool]
"""Whether a client is meant that waits for so many tokens; never asked about `BACKGROUND`."""

BACKGROUND = "\0background"
"""The client that jobs ask as; no header or key can be this."""
_BACKGROUND_PRICE = 8
"""How often its cost counts: beside one busy client it has a ninth of the sessions."""


class _Flow:
    """What one client waits for.

    Attributes:
        tag: Virtual start of the client's next slice, among clients.
        tokens: Padded tokens that wait.
        heap: Slices by their virtual start, among the client's jobs.
        price: How often a slice's cost counts.
    """

    __slots__ = ("client", "heap", "now", "price", "tag", "tokens")

    def __init__(self, client: str, tag: float) -> None:
        self.client = client
        self.price = _BACKGROUND_PRICE if client == BACKGROUND else 1
        self.tag = tag
        self.tokens = 0
        self.now = 0.0
        self.heap: list[Entry] = []


class FairOrder:
    """Slices in the order in which they deserve a session. Not safe for threads."""

    def __init__(self) -> None:
        self.tokens = 0
        self._flows: dict[str, _Flow] = {}
        self._now = 0.0
        self._sequence = itertools.count()

    def __len__(self) -> int:
        """Slices that wait."""
        return sum(len(flow.heap) for flow in self._flows.values())

    def tokens_of(self, client: str) -> int:
        """Padded tokens of `client` that wait."""
        flow = self._flows.get(client)
        return flow.tokens if flow else 0

    def add(self, slices: Sequence[Slice], client: str) -> None:
        """Put in the slices of one job; there may be none, where all of it is known."""
        if not slices:
            return
        flow = self._flows.get(client)
        if flow is None:
            flow = self._flows[client] = _Flow(client, self._now)
            # The background's pieces come one after the other, each to an empty flow: it pays
            # before it is served, or coming back would be free.
            flow.tag += (flow.price - 1) * slices[0].cost
        start = flow.now
        for piece in slices:
            heapq.heappush(flow.heap, (start, next(self._sequence), piece))
            start += piece.cost
            flow.tokens += piece.cost
            self.tokens += piece.cost

    def waits_for_little(self, is_little: Wanted, *, most: int) -> bool:
        """Return whether clients wait for little, `most` tokens, all of them together."""
        return 0 < sum(flow.tokens for flow in self._waiting(is_little)) <= most

    def pop(self, alive: Judge, *, only: Wanted | None = None) -> Slice | None:
        """Take out the slice that is next; those that are not `alive` are dropped for nothing.

        Args:
            alive: Whether somebody waits for a slice still.
            only: Of which clients; of all by default.
        """
        for flow in self._by_tag(only):
            while flow.heap:
                start, _, piece = self._out(flow)
                if alive(piece):
                    self._now = max(self._now, flow.tag)
                    flow.now = max(flow.now, start)
                    flow.tag += piece.cost * flow.price
                    self._forget_empty()
                    return piece
        self._forget_empty()
        return None

    def pop_fitting(
        self,
        alive: Judge,
        fits: Judge,
        *,
        more: Callable[[], bool],
        look_ahead: int,
        only: Wanted | None = None,
    ) -> Iterator[Slice]:
        """Take out further slices that `fits` accepts, the next ones first; to be used up.

        Args:
            alive: Whether somebody waits for a slice still; the others are dropped.
            fits: Whether a slice is wanted; asked again for each.
            more: Whether any is.
            look_ahead: How many unwanted slices are passed over at most.
            only: Of which clients; of all by default.
        """
        for flow in self._by_tag(only):
            passed_over: list[Entry] = []
            while flow.heap and look_ahead and more():
                entry = self._out(flow)
                piece = entry[2]
                if not alive(piece):
                    continue
                if fits(piece):
                    flow.tag += piece.cost * flow.price
                    yield piece
                else:
                    look_ahead -= 1
                    passed_over.append(entry)
            for entry in passed_over:
                heapq.heappush(flow.heap, entry)
                flow.tokens += entry[2].cost
                self.tokens += entry[2].cost
        self._forget_empty()

    def _by_tag(self, only: Wanted | None) -> list[_Flow]:
        """Return whose turn it is, the first one first."""
        return sorted(self._waiting(only), key=lambda flow: flow.tag)

    def _waiting(self, only: Wanted | None) -> Iterator[_Flow]:
        for flow in self._flows.values():
            if only is None or (flow.client != BACKGROUND and only(flow.client, flow.tokens)):
                yield flow

    def _out(self, flow: _Flow) -> Entry:
        entry = heapq.heappop(flow.heap)
        flow.tokens -= entry[2].cost
        self.tokens -= entry[2].cost
        return entry

    def _forget_empty(self) -> None:
        # A client that comes back starts at the virtual now: what it was owed or owes is at most
        # one batch, and clients that came once do not pile up.
        for client in [flow.client for flow in self._flows.values() if not flow.heap]:
            del self._flows[client]
