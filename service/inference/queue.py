"""The queue between requests and sessions: bounded in tokens, fair between jobs.

Start-time fair queueing (Goyal, Vin & Cheng 1996): each job's slices get virtual start times one
cost apart, beginning at the queue's virtual now; the earliest start goes first. A single text that
comes after a thousand-text request starts "now", so it waits for one batch and not for the
thousand; and nothing starves, since virtual time only moves on.
"""

from __future__ import annotations

import heapq
import itertools
import threading
import time
from collections.abc import Sequence

from service.errors import OverloadedError, UnavailableError
from service.inference.work import Job, Slice

WIDTH_WINDOW = 1.25
"""A slice joins a batch when its width is within this factor of the first's."""
WIDTH_SLACK = 8
"""... or within so many tokens, since the shortest texts differ by large factors."""
LOOK_AHEAD = 64
"""How many slices behind the first are looked at to fill a batch."""

Entry = tuple[float, int, Slice]


class WorkQueue:
    """Slices of all requests, taken by the worker threads.

    Args:
        capacity_tokens: Padded tokens that may wait; past it `put` refuses at once.
        batch_tokens: Padded tokens of one batch.
    """

    def __init__(self, *, capacity_tokens: int, batch_tokens: int) -> None:
        self.capacity_tokens = capacity_tokens
        self.batch_tokens = batch_tokens
        self._heap: list[Entry] = []
        self._sequence = itertools.count()
        self._virtual_now = 0.0
        self._tokens = 0
        self._tokens_per_second = 50_000.0
        self._closed = False
        self._changed = threading.Condition()

    @property
    def tokens(self) -> int:
        """Padded tokens that wait now."""
        return self._tokens

    @property
    def depth(self) -> int:
        """Slices that wait now."""
        return len(self._heap)

    def expected_wait_seconds(self) -> float:
        """How long what waits now will take, at the speed measured lately."""
        return self._tokens / self._tokens_per_second

    def put(self, slices: Sequence[Slice]) -> None:
        """Queue all slices of one job, or none.

        Raises:
            OverloadedError: They do not fit in the room that is left.
            UnavailableError: The queue is closed: the service is shutting down.
        """
        cost = sum(piece.cost for piece in slices)
        with self._changed:
            if self._closed:
                raise UnavailableError(
                    "The service is shutting down.", remedy="Try another replica."
                )
            # A job larger than the whole queue is let in when the queue is empty: refusing it for
            # ever would tell the client to retry what can never succeed.
            if self._tokens and self._tokens + cost > self.capacity_tokens:
                raise OverloadedError(
                    f"The queue is full: {self._tokens} of {self.capacity_tokens} tokens wait, "
                    f"{cost} more do not fit.",
                    retry_after_seconds=max(1.0, self.expected_wait_seconds()),
                )
            start = self._virtual_now
            for piece in slices:
                heapq.heappush(self._heap, (start, next(self._sequence), piece))
                start += piece.cost
            self._tokens += cost
            self._changed.notify(len(slices))

    def take(self) -> list[Slice] | None:
        """Return the slices of the next batch, all of one tower; wait for work if there is none.

        Returns None when the queue is closed and empty.
        """
        with self._changed:
            while True:
                first = self._next_live()
                if first is not None:
                    return self._fill(first)
                if self._closed:
                    return None
                self._changed.wait()

    def close(self) -> None:
        """Refuse new work; what waits is still taken."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def record_speed(self, tokens: int, seconds: float, *, workers: int) -> None:
        """Learn from a batch how many tokens a second all workers together compute."""
        measured = workers * tokens / max(seconds, 1e-6)
        self._tokens_per_second += 0.1 * (measured - self._tokens_per_second)

    def _next_live(self) -> Slice | None:
        now = time.monotonic()
        while self._heap:
            start, _, piece = heapq.heappop(self._heap)
            self._tokens -= piece.cost
            if piece.job.over or piece.job.expire(now):
                continue
            self._virtual_now = max(self._virtual_now, start)
            return piece
        return None

    def _fill(self, first: Slice) -> list[Slice]:
        batch = [first]
        width, texts = first.width, len(first.rows)
        passed_over: list[Entry] = []
        while self._heap and len(passed_over) < LOOK_AHEAD and width * texts < self.batch_tokens:
            entry = heapq.heappop(self._heap)
            piece = entry[2]
            wider = max(width, piece.width)
            fits = (
                piece.job.tower is first.job.tower
                and wider * (texts + len(piece.rows)) <= self.batch_tokens
                and _alike(first.width, piece.width)
            )
            if not fits:
                passed_over.append(entry)
                continue
            self._tokens -= piece.cost
            if not piece.job.over:
                batch.append(piece)
                width, texts = wider, texts + len(piece.rows)
        for entry in passed_over:
            heapq.heappush(self._heap, entry)
        return batch


def _alike(width: int, other: int) -> bool:
    low, high = sorted((width, other))
    return high - low <= WIDTH_SLACK or high <= low * WIDTH_WINDOW


def job_slices(job: Job, groups: Sequence[Sequence[int]]) -> list[Slice]:
    """Return the slices of `job`, one for each group of its rows."""
    return [Slice(job, list(group)) for group in groups]
