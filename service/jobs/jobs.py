"""All jobs of a service."""

from __future__ import annotations

import logging
import secrets
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeAlias

from service.errors import (
    ConflictError,
    InputError,
    InterlinguaError,
    NotFoundError,
    StorageError,
    UnavailableError,
)
from service.jobs.job import Job, JobCancelledError, JobState, JobStatus, Result
from service.jobs.journal import Journal

Task: TypeAlias = Callable[[Job], Result]
"""The work: it reports to the job it is given, and returns what is left behind."""

KEPT = 1000
"""So many jobs that are over are remembered; the oldest are forgotten."""

_log = logging.getLogger(__name__)


class Jobs:
    """Runs tasks on threads of their own, a few at a time, in the order in which they came.

    >>> job = jobs.submit("fit", "topics", lambda job: {"examples": 3})
    >>> job.wait(1.0).state
    <JobState.SUCCEEDED: 'succeeded'>

    Args:
        directory: Where jobs are remembered over a restart.
        describe: Turns what a task raised into the JSON that clients see.
        at_once: Tasks that run side by side.
    """

    def __init__(
        self, directory: Path, *, describe: Callable[[Exception], Result], at_once: int = 2
    ) -> None:
        self._journal = Journal(directory)
        self._describe = describe
        self._lock = threading.Lock()
        self._jobs: dict[str, Job] = {}
        for status in sorted(self._journal.read(), key=lambda status: status.created):
            job = self._jobs[status.id] = Job(status, self._journal.write)
            job.outcome.set_result(status)
        self._threads = ThreadPoolExecutor(at_once, thread_name_prefix="job")
        self._closed = False

    def submit(
        self, kind: str, subject: str, task: Task, *, client: str = "", corpus: str | None = None
    ) -> Job:
        """Queue `task` and return its job.

        Args:
            kind: What is done, such as `reencode`.
            subject: The name of what it is done to. One job of a kind and subject at a time.
            task: Runs on a thread; what it raises fails the job, `JobCancelledError` cancels it.
            client: Who submits it.
            corpus: Whose documents it reads.

        Raises:
            ConflictError: A job of this kind is at work on the subject.
            UnavailableError: The service is stopping.
        """
        status = JobStatus(
            secrets.token_hex(8), kind, subject, JobState.QUEUED, datetime.now(UTC),
            client=client, corpus=corpus,
        )  # fmt: skip
        job = Job(status, self._journal.write)
        with self._lock:
            if self._closed:
                raise UnavailableError("The service is stopping; no job is begun any more.")
            for other in self._jobs.values():
                there = other.status
                if (there.kind, there.subject) == (kind, subject) and not there.state.final:
                    raise ConflictError(
                        f"A job {kind} is at work on {subject!r}.",
                        given=there.id,
                        remedy=f"Wait for it, or cancel it: DELETE /jobs/{there.id}.",
                    )
            self._jobs[status.id] = job
            self._forget_oldest()
            self._journal.write(status)
            self._threads.submit(self._run, job, task)
        return job

    def get(self, id: str) -> Job:
        """Return a job, or raise NotFoundError."""
        with self._lock:
            job = self._jobs.get(id)
        if job is None:
            raise no_such_job(id)
        return job

    def list(self) -> tuple[Job, ...]:
        """Return every job that is remembered, the latest first."""
        with self._lock:
            return tuple(reversed(self._jobs.values()))

    def cancel(self, id: str) -> JobStatus:
        """Ask a job to end, or forget one that is over; return its status then.

        Raises:
            NotFoundError: There is no such job.
        """
        job = self.get(id)
        if job.status.state.final:
            with self._lock:
                self._jobs.pop(id, None)
            self._journal.forget(id)
        else:
            job.cancel()
        return job.status

    def close(self) -> None:
        """Cancel what waits, interrupt what runs, and wait for it to end."""
        with self._lock:
            self._closed = True
            jobs = list(self._jobs.values())
        for job in jobs:
            if not job.status.state.final:
                job.cancel(JobState.INTERRUPTED)
        self._threads.shutdown(wait=True)

    def _run(self, job: Job, task: Task) -> None:
        if not job.become(JobState.RUNNING):
            return
        try:
            result = task(job)
        except JobCancelledError:
            job.end_cancelled()
        except InterlinguaError as error:
            _log.warning("Job %s (%s of %s) failed: %s", job.status.id, job.status.kind,
                         job.status.subject, _reason(error))  # fmt: skip
            job.become(JobState.FAILED, error=self._describe(error))
        except BaseException as error:  # a panic of a library in Rust is no Exception
            _log.exception("Job %s (%s of %s) failed.", job.status.id, job.status.kind,
                           job.status.subject)  # fmt: skip
            unforeseen = error if isinstance(error, Exception) else RuntimeError(str(error))
            job.become(JobState.FAILED, error=self._describe(unforeseen))
        else:
            job.become(JobState.SUCCEEDED, result=result)

    def _forget_oldest(self) -> None:
        over = [id for id, job in self._jobs.items() if job.status.state.final]
        for id in over[: max(len(over) - KEPT, 0)]:
            del self._jobs[id]
            self._journal.forget(id)


def _reason(error: InterlinguaError) -> str:
    """Say in the log why a job failed, without what was sent: GET /jobs/ID tells that."""
    if isinstance(error, StorageError):
        return str(error)  # with the path; it quotes nothing
    # What is wrong with examples is told by their labels.
    told = type(error).__name__ if isinstance(error, InputError) else error.message
    return told if error.field is None else f"{told} (field {error.field!r})"


def no_such_job(id: str) -> NotFoundError:
    """Return the error for a job that is not there."""
    return NotFoundError(
        "There is no job of this id.", field="id", given=id, remedy="GET /jobs lists them."
    )
