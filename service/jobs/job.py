"""One piece of work that goes on after its request was answered."""

from __future__ import annotations

import enum
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TypeAlias

from pydantic import JsonValue

Result: TypeAlias = Mapping[str, JsonValue]
"""What a job leaves behind: a JSON object."""


class JobState(enum.StrEnum):
    """Where a job is in its life; the last four are final."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"  # the service stopped before it was done

    @property
    def final(self) -> bool:
        """Whether it stays so."""
        return self not in (JobState.QUEUED, JobState.RUNNING)


class JobCancelledError(Exception):
    """Raised inside a job's work where somebody cancelled it; the work just lets it pass."""


@dataclass(frozen=True, slots=True)
class JobStatus:
    """A job at one moment."""

    id: str
    kind: str  # what is done: reencode, fit
    subject: str  # to what: the name of a corpus or classifier
    state: JobState
    created: datetime  # UTC, as all times here
    started: datetime | None = None
    finished: datetime | None = None
    done: int = 0  # units of work, such as documents
    total: int | None = None  # of them, where it is known
    note: str | None = None  # what is being done right now
    result: Result | None = None
    error: Result | None = None  # a problem as HTTP would tell it
    client: str = ""  # who submitted it; empty where no keys were set
    corpus: str | None = None  # whose documents it reads, where it does

    @property
    def seconds_left(self) -> float | None:
        """Time left at the mean pace so far; None where that cannot be said."""
        if (
            self.state is not JobState.RUNNING
            or not self.done
            or not self.total
            or not self.started
        ):
            return None
        # The clock of the day may be set back meanwhile.
        spent = max((datetime.now(UTC) - self.started).total_seconds(), 0.0)
        return spent / self.done * max(self.total - self.done, 0)


class Job:
    """A submitted job; made by `Jobs.submit`.

    Args:
        status: Its first.
        changed: Told of each new state (not of mere progress), to write it down.
    """

    def __init__(self, status: JobStatus, changed: Callable[[JobStatus], None]) -> None:
        self._status = status
        self._changed = changed
        self._lock = threading.Lock()
        self._cancel = threading.Event()
        self._ends_as = JobState.CANCELLED
        self.outcome: Future[JobStatus] = Future()
        """Resolves to the final status, however it ended; `asyncio.wrap_future` awaits it."""

    @property
    def status(self) -> JobStatus:
        """The job as it is now."""
        return self._status

    @property
    def cancelled(self) -> bool:
        """Whether somebody wants it to end."""
        return self._cancel.is_set()

    def wait(self, timeout_seconds: float) -> JobStatus:
        """Return its status as soon as it is final, or after `timeout_seconds`."""
        deadline = time.monotonic() + timeout_seconds
        try:
            return self.outcome.result(max(deadline - time.monotonic(), 0))
        except TimeoutError:
            return self.status

    def progress(self, done: int, total: int | None = None, note: str | None = None) -> None:
        """Say how far the work is; to be called from the work, often.

        Raises:
            JobCancelledError: It was cancelled meanwhile.
        """
        with self._lock:
            self._status = replace(self._status, done=done, total=total, note=note)
        self.check()

    def check(self) -> None:
        """Raise JobCancelledError where it was cancelled meanwhile."""
        if self._cancel.is_set():
            raise JobCancelledError

    def cancel(self, state: JobState = JobState.CANCELLED) -> None:
        """Ask it to end; one that waits ends at once, one that runs at its next `check`.

        Args:
            state: What it is then; INTERRUPTED where nobody asked for it.
        """
        self._ends_as = state
        self._cancel.set()
        self.become(state, only_from=JobState.QUEUED)

    def end_cancelled(self) -> None:
        """Enter the state that it was cancelled with, for `Jobs`."""
        self.become(self._ends_as)

    def become(
        self,
        state: JobState,
        *,
        result: Result | None = None,
        error: Result | None = None,
        only_from: JobState | None = None,
    ) -> bool:
        """Enter `state`, for `Jobs`; return False where the job is over, or not in `only_from`."""
        now = datetime.now(UTC)
        with self._lock:
            before = self._status.state
            if before.final or (only_from is not None and before is not only_from):
                return False
            self._status = replace(
                self._status,
                state=state,
                started=now if state is JobState.RUNNING else self._status.started,
                finished=now if state.final else None,
                result=result,
                error=error,
            )
        self._changed(self._status)
        if state.final:
            self.outcome.set_result(self._status)
        return True
