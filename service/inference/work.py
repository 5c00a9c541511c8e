"""What waits in the queue: a request's job, cut into slices."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from service.errors import InterlinguaError
from service.inference.encoder import Tower
from service.inference.session import Vectors
from service.text.tokenizer import Tokens


class Job:
    """All texts of one request for one tower, done when its last slice is.

    Args:
        tower: What encodes them.
        tokens: The ids of each text.
        dimension: Width of a vector.
        when_done: Called once, from a worker's thread, when the job is done, failed or dropped.
    """

    def __init__(
        self,
        tower: Tower,
        tokens: Sequence[Tokens],
        *,
        dimension: int,
        when_done: Callable[[Job], None],
    ) -> None:
        self.tower = tower
        self.tokens = tokens
        self.vectors: Vectors = np.zeros((len(tokens), dimension), dtype=np.float32)
        self.error: InterlinguaError | None = None
        self.enqueued = time.monotonic()
        self.queue_seconds = 0.0
        self.inference_seconds = 0.0
        self._when_done = when_done
        self._remaining = len(tokens)
        self._over = False
        self._lock = threading.Lock()

    @property
    def over(self) -> bool:
        """Whether nobody waits for more: done, failed or cancelled."""
        return self._over

    def cancel(self) -> None:
        """Drop what is not yet computed: its client is gone or its time is up.

        `when_done` is not called.
        """
        with self._lock:
            self._over = True

    def fail(self, error: InterlinguaError) -> None:
        """Give the job up with `error`, once."""
        with self._lock:
            if self._over:
                return
            self._over = True
            self.error = error
        self._when_done(self)

    def deliver(
        self, rows: Sequence[int], vectors: Vectors, *, started: float, seconds: float
    ) -> None:
        """Take the vectors of `rows`, computed from `started` (monotonic) within `seconds`."""
        self.vectors[rows] = vectors  # rows of different slices never overlap
        with self._lock:
            self.queue_seconds = max(self.queue_seconds, started - self.enqueued)
            self.inference_seconds += seconds
            self._remaining -= len(rows)
            if self._remaining > 0 or self._over:
                return
            self._over = True
        self._when_done(self)


@dataclass(slots=True)
class Slice:
    """Some texts of a job, of like length: what a batch is made of.

    Attributes:
        job: Whose they are.
        rows: Their positions in it.
        width: Tokens of the longest.
        tokens: Of all.
        cost: What the session computes for them alone, in tokens.
    """

    job: Job
    rows: list[int]
    width: int = field(init=False)
    tokens: int = field(init=False)
    cost: int = field(init=False)

    def __post_init__(self) -> None:
        lengths = [max(1, len(self.job.tokens[row])) for row in self.rows]
        self.width = max(lengths)
        self.tokens = sum(lengths)
        self.cost = self.width * len(lengths) if self.job.tower.session.pads else self.tokens
