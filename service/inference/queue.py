"""The queue between requests and sessions: bounded in tokens, fair, without a fixed wait."""

from __future__ import annotations

import math
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from service.errors import OverloadedError, UnavailableError
from service.inference.budget import Budget
from service.inference.encoder import Tower
from service.inference.fairness import BACKGROUND, FairOrder, Wanted
from service.inference.work import Job, Slice

WIDTH_WINDOW = 1.25
"""A slice joins a batch when its width is within this factor of the first's."""
WIDTH_SLACK = 8
"""... or within so many tokens, since the shortest texts differ by large factors."""
LOOK_AHEAD = 64
"""How many slices behind the first are looked at to fill a batch."""
CLIENT_SHARE = 0.8
"""Part of the room that one named client may fill, so that a flood leaves others a way in."""
FEW_REQUESTS = 8
"""So many are let in however large they are: a few clients with hundreds of texts are no flood."""
LONGEST_WAIT_SECONDS = 10.0
"""... while what waits takes no longer."""
LARGE_SHARE = 0.75
"""Of a client's room; where more is taken, large requests are refused unread."""
LEAST_BATCHES = 32
"""So many full batches may wait whatever they take, so that a slow model's workers find work."""
LITTLE_TOKENS = 64
"""A client that waits for no more has its own way past the batches that are computed ..."""
LITTLE_REQUESTS = 4
"""... unless it sends more requests at a time, which are faster together in a batch."""


class WorkQueue:
    """Slices of all requests, taken by the worker threads.

    Args:
        capacity_tokens: Padded tokens that may wait at most; past it `put` refuses at once.
        wait_seconds: What waits may take about so long, at the speed measured lately: a bound that
            suits fast and slow models alike.
        batch_tokens: Tokens of one batch, at most; a session may want fewer.

    Attributes:
        idle_workers: Threads that wait in `take`.
    """

    def __init__(
        self,
        *,
        capacity_tokens: int,
        batch_tokens: int,
        wait_seconds: float = math.inf,
    ) -> None:
        self.capacity_tokens = capacity_tokens
        self.batch_tokens = batch_tokens
        self.wait_seconds = wait_seconds
        self._order = FairOrder()
        self._admitted: dict[str, int] = {}
        self._present: Counter[str] = Counter()
        self._tokens_per_second = 50_000.0
        self._full_batch_tokens = batch_tokens
        self.idle_workers = 0
        self._closed = False
        lock = threading.RLock()
        self._changed = threading.Condition(lock)
        self._little = threading.Condition(lock)

    @property
    def tokens(self) -> int:
        """Padded tokens that wait now."""
        return self._order.tokens

    @property
    def room_tokens(self) -> int:
        """Padded tokens that may wait now."""
        least = LEAST_BATCHES * self._full_batch_tokens
        in_time = self.wait_seconds * self._tokens_per_second
        return int(min(self.capacity_tokens, max(least, in_time)))

    def budget_of(self, tower: Tower) -> Budget:
        """Return what one batch of `tower` may hold: no more than its session gains from."""
        session = tower.session
        return Budget(self.batch_tokens, session.pads).at_most(session.batch_tokens)

    @property
    def depth(self) -> int:
        """Slices that wait now."""
        with self._changed:
            return len(self._order)

    def expected_wait_seconds(self) -> float:
        """How long what waits now will take, at the speed measured lately."""
        return self.tokens / self._tokens_per_second

    @property
    def is_full(self) -> bool:
        """Whether a large request that came now would be refused."""
        with self._changed:
            return self.tokens >= self.room_tokens and not self._among_few("", coming=1)

    def enter(self, client: str = "") -> None:
        """Count a request from its first text's tokenisation on; `leave` is to follow."""
        with self._changed:
            self._present[client] += 1

    def leave(self, client: str = "") -> None:
        """Count a request no more: its last vector is there, or nobody waits for it."""
        with self._changed:
            self._present[client] -= 1
            if not self._present[client]:
                del self._present[client]

    @contextmanager
    def entered(self, client: str = "") -> Iterator[None]:
        """Count a request from its first text's tokenisation to its last vector."""
        self.enter(client)
        try:
            yield
        finally:
            self.leave(client)

    def check_room(self, tokens: int, *, client: str = "") -> None:
        """Refuse about so many `tokens` where there is no room; nothing was spent on them yet.

        Raises:
            OverloadedError: There is none.
            UnavailableError: The queue is closed.
        """
        with self._changed:
            self._check_room(tokens, client)

    @contextmanager
    def admitted(self, tokens: int, *, client: str = "") -> Iterator[None]:
        """Hold room for texts that are being tokenised: about so many `tokens`.

        Without it a flood would pile up before the queue, where nothing bounds it.

        Raises:
            OverloadedError: There is no room; nothing was spent on the texts yet.
            UnavailableError: The queue is closed.
        """
        with self._changed:
            self._check_room(tokens, client)
            self._admitted[client] = self._admitted.get(client, 0) + tokens
        try:
            yield
        finally:
            with self._changed:
                self._admitted[client] -= tokens
                if not self._admitted[client]:
                    del self._admitted[client]

    def check_not_crowded(self, *, client: str = "") -> None:
        """Refuse a large request before anything is spent on it where the queue is nearly full.

        Args:
            client: Whose it is.

        Raises:
            OverloadedError: Less than a quarter of the client's room is left.
        """
        with self._changed:
            own, total, room = self._taken(client)
            few = self._among_few(client, coming=1)
            most = LARGE_SHARE * (self.capacity_tokens if few else room)
            crowded = total > most or (client != "" and own > CLIENT_SHARE * most)
            if crowded and not self._closed:  # who comes then is told elsewhere
                raise self._full(f"{total} of {room} tokens wait, {own} of them yours.")

    def put(self, slices: Sequence[Slice], *, client: str = "") -> None:
        """Queue all slices of one job, or none.

        Args:
            slices: The job's.
            client: Whose it is; the queue is fair between clients. Empty where nobody says.

        Raises:
            OverloadedError: They do not fit in the room that is left.
            UnavailableError: The queue is closed: the service is shutting down.
        """
        with self._changed:
            self._check_room(sum(piece.cost for piece in slices), client)
            self._order.add(slices, client)
            self._changed.notify(len(slices))
            self._tell_of_little()

    def take(self) -> list[Slice] | None:
        """Return the slices of the next batch, all of one tower; wait for work if there is none.

        Returns None when the queue is closed and empty.
        """
        with self._changed:
            self.idle_workers += 1
            try:
                while True:
                    batch = self._next_batch()
                    if batch:
                        return batch
                    if self._closed:
                        return None
                    self._changed.wait()
            finally:
                self.idle_workers -= 1
                self._tell_of_little()

    def take_little(self) -> list[Slice] | None:
        """Return what clients that wait for little wait for, while all workers are busy.

        A batch that was begun is not broken off, and on a slow model it takes longer than a short
        text does alone. Computed on a thread of its own, that shares the processor with it.
        Where many wait for little each, they make up the next full batch: that is faster.

        Returns None when the queue is closed; what is left is for the workers.
        """
        with self._changed:
            while not self._closed:
                batch = self.take_little_now()
                if batch:
                    return batch
                self._little.wait()
            return None

    def take_little_now(self) -> list[Slice]:
        """Return what `take_little` does, but nothing where it would wait."""
        with self._changed:
            return self._next_batch(only=self._is_little) if self._little_waits() else []

    def close(self) -> None:
        """Refuse new work; what waits is still taken."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
            self._little.notify_all()

    def record_speed(self, tokens: int, seconds: float, *, workers: int) -> None:
        """Learn from a batch how many tokens a second all workers together compute."""
        measured = workers * tokens / max(seconds, 1e-6)
        self._tokens_per_second += 0.1 * (measured - self._tokens_per_second)

    def _check_room(self, cost: int, client: str) -> None:
        if self._closed:
            raise UnavailableError("The service is shutting down.", remedy="Try another replica.")
        own, total, room = self._taken(client)
        # A job larger than the room is let in when its client has nothing else there: refusing it
        # for ever would tell the client to retry what can never succeed.
        fits = total + cost <= room or total == 0
        fair = not client or own == 0 or own + cost <= CLIENT_SHARE * room
        if fits and fair:
            return
        within = total + cost <= self.capacity_tokens
        if not (within and (self._among_few(client) or self._among_alike(client, cost))):
            raise self._full(
                f"{total} of {room} tokens wait, {own} of them yours; {cost} more do not fit."
            )

    def _among_few(self, client: str, *, coming: int = 0) -> bool:
        """Whether so few requests are there that the size of one does not matter."""
        return self._is_within(client, FEW_REQUESTS, coming=coming)

    def _among_alike(self, client: str, cost: int) -> bool:
        """Whether all requests would fit if they were of this size.

        A small one waits for its turn among them, not for all that large ones want (`FairOrder`).
        """
        return self._is_within(client, self.room_tokens / max(1, cost))

    def _is_within(self, client: str, most: float, *, coming: int = 0) -> bool:
        own = self._present[client] + coming
        total = self._present.total() - self._present[BACKGROUND] + coming
        _, ahead, _ = self._taken(client)
        return (
            0 < own <= most * (CLIENT_SHARE if client else 1)
            and total <= most
            and ahead <= LONGEST_WAIT_SECONDS * self._tokens_per_second
        )

    def _taken(self, client: str) -> tuple[int, int, int]:
        """Return the padded tokens of `client`, those of all, and how many may be."""
        own = self._order.tokens_of(client) + self._admitted.get(client, 0)
        return own, self._order.tokens + sum(self._admitted.values()), self.room_tokens

    def _full(self, how: str) -> OverloadedError:
        return OverloadedError(
            f"The queue is full: {how}",
            retry_after_seconds=max(1.0, self.expected_wait_seconds()),
        )

    def _little_waits(self) -> bool:
        return self.idle_workers == 0 and self._order.waits_for_little(
            self._is_little, most=LITTLE_TOKENS
        )

    def _is_little(self, client: str, tokens: int) -> bool:
        return tokens <= LITTLE_TOKENS and self._present[client] <= LITTLE_REQUESTS

    def _tell_of_little(self) -> None:
        if self._little_waits():
            self._little.notify()

    def _next_batch(self, *, only: Wanted | None = None) -> list[Slice]:
        """Return the next batch; with `only`, of clients of which it is true."""

        def alive(piece: Slice) -> bool:
            return not piece.job.over

        first = self._order.pop(alive, only=only)
        if first is None:
            return []
        batch = [first]
        budget = self.budget_of(first.job.tower)
        self._full_batch_tokens = budget.tokens
        # What fills a batch by itself gains nothing from a small text's, which it would hold up.
        largest = max(first.tokens, budget.tokens // 2)
        width, texts, tokens = first.width, len(first.rows), first.tokens

        def fits(piece: Slice) -> bool:
            return (
                piece.job.tower is first.job.tower
                and piece.tokens <= largest
                and budget.takes(
                    texts=texts + len(piece.rows),
                    width=max(width, piece.width),
                    tokens=tokens + piece.tokens,
                )
                # Where padding costs nothing, the budget's own bound of the width is enough.
                and (not budget.pads or _alike(first.width, piece.width))
            )

        def more() -> bool:
            return budget.cost(texts=texts, width=width, tokens=tokens) < budget.tokens

        for piece in self._order.pop_fitting(
            alive, fits, more=more, look_ahead=LOOK_AHEAD, only=only
        ):
            batch.append(piece)
            width, texts = max(width, piece.width), texts + len(piece.rows)
            tokens += piece.tokens
        return batch


def _alike(width: int, other: int) -> bool:
    low, high = sorted((width, other))
    return high - low <= WIDTH_SLACK or high <= low * WIDTH_WINDOW


def job_slices(job: Job, groups: Sequence[Sequence[int]]) -> list[Slice]:
    """Return the slices of `job`, one for each group of its rows."""
    return [Slice(job, list(group)) for group in groups]
