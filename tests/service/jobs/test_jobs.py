from __future__ import annotations

import errno
import os
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from service.durable import STAGED
from service.errors import (
    ConflictError,
    InputError,
    NotFoundError,
    StorageError,
    UnavailableError,
)
from service.jobs.job import Job, JobState, Result
from service.jobs.jobs import Jobs

SECONDS = 10.0


def describe(error: Exception) -> Result:
    return {"detail": str(error)}


@pytest.fixture
def jobs(tmp_path: Path) -> Iterator[Jobs]:
    opened = Jobs(tmp_path / "jobs", describe=describe)
    yield opened
    opened.close()


class Gate:
    """A task that reports, then waits until it is let go or cancelled."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.opened = threading.Event()

    def __call__(self, job: Job) -> Result:
        job.progress(1, 4, "counting")
        self.reached.set()
        while not self.opened.wait(0.005):
            job.check()
        return {"counted": 4}


def test_a_job_reports_progress_and_leaves_its_result(jobs: Jobs) -> None:
    gate = Gate()
    job = jobs.submit("count", "sheep", gate)
    assert gate.reached.wait(SECONDS)
    running = jobs.get(job.status.id).status
    assert (running.state, running.done, running.total, running.note) == (
        JobState.RUNNING, 1, 4, "counting",
    )  # fmt: skip
    assert running.seconds_left is not None
    gate.opened.set()
    over = job.wait(SECONDS)
    assert (over.state, over.result, over.error) == (JobState.SUCCEEDED, {"counted": 4}, None)
    assert over.seconds_left is None


def test_a_clock_set_back_leaves_no_negative_time(jobs: Jobs) -> None:
    gate = Gate()
    job = jobs.submit("count", "sheep", gate)
    assert gate.reached.wait(SECONDS)
    later = datetime.now(UTC) + timedelta(hours=1)
    assert replace(job.status, started=later).seconds_left == 0
    gate.opened.set()
    job.wait(SECONDS)


def test_a_job_that_fails_says_why(jobs: Jobs) -> None:
    def fail(job: Job) -> Result:
        raise InputError("No sheep.", field="sheep")

    over = jobs.submit("count", "sheep", fail).wait(SECONDS)
    assert over.state is JobState.FAILED
    assert over.error == {"detail": "No sheep. (field 'sheep')"}


def test_a_job_in_which_a_library_panics_has_failed(jobs: Jobs) -> None:
    class PanicError(BaseException):
        """As pyo3's: no Exception."""

    def panic(job: Job) -> Result:
        raise PanicError("byte index 9 is not a char boundary")

    assert jobs.submit("count", "sheep", panic).wait(SECONDS).state is JobState.FAILED


@pytest.mark.parametrize(
    ("error", "logged"),
    [
        (InputError("'secret' has one example.", field="examples", given="a secret text"),
         "InputError (field 'examples')"),
        (ConflictError("It was changed.", field="corpus", given="a secret text"),
         "It was changed. (field 'corpus')"),
        (StorageError("The disk is full.", path=Path("/data/x")), "/data/x: The disk is full."),
    ],
)  # fmt: skip
def test_the_log_says_why_without_what_was_sent(
    jobs: Jobs, caplog: pytest.LogCaptureFixture, error: Exception, logged: str
) -> None:
    def fail(job: Job) -> Result:
        raise error

    jobs.submit("count", "sheep", fail).wait(SECONDS)
    assert caplog.messages[-1].endswith(f"(count of sheep) failed: {logged}")
    assert "secret" not in caplog.text


def test_cancelling_ends_a_job_that_runs_and_one_that_waits(tmp_path: Path) -> None:
    jobs = Jobs(tmp_path, describe=describe, at_once=1)
    gate = Gate()
    runs, waits = jobs.submit("count", "sheep", gate), jobs.submit("count", "goats", gate)
    assert gate.reached.wait(SECONDS)
    assert jobs.cancel(waits.status.id).state is JobState.CANCELLED
    jobs.cancel(runs.status.id)
    assert runs.wait(SECONDS).state is JobState.CANCELLED
    jobs.cancel(runs.status.id)
    with pytest.raises(NotFoundError):
        jobs.get(runs.status.id)
    jobs.close()
    assert [job.status.id for job in Jobs(tmp_path, describe=describe).list()] == [waits.status.id]


def test_a_job_that_is_asked_to_end_is_at_work_until_it_does(jobs: Jobs) -> None:
    begun, release = threading.Event(), threading.Event()

    def stubborn(job: Job) -> Result:
        begun.set()
        assert release.wait(SECONDS)
        job.check()
        return {}

    job = jobs.submit("count", "sheep", stubborn)
    assert begun.wait(SECONDS)
    assert jobs.cancel(job.status.id).state is JobState.RUNNING
    with pytest.raises(ConflictError):
        jobs.submit("count", "sheep", stubborn)
    release.set()
    assert job.wait(SECONDS).state is JobState.CANCELLED


def test_the_oldest_that_are_over_are_forgotten_on_the_disk_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.jobs.jobs.KEPT", 5)
    jobs = Jobs(tmp_path, describe=describe)
    ids = []
    for number in range(8):
        job = jobs.submit("count", f"flock {number}", lambda _: {})
        job.wait(SECONDS)
        ids.append(job.status.id)
    latest = ids[:1:-1]  # five, and the one that was submitted last
    assert [job.status.id for job in jobs.list()] == latest
    jobs.close()
    assert [job.status.id for job in Jobs(tmp_path, describe=describe).list()] == latest


def test_two_of_a_kind_do_not_work_on_one_subject(jobs: Jobs) -> None:
    gate = Gate()
    first = jobs.submit("count", "sheep", gate)
    with pytest.raises(ConflictError, match=first.status.id):
        jobs.submit("count", "sheep", gate)
    jobs.submit("shear", "sheep", gate)
    gate.opened.set()
    first.wait(SECONDS)
    jobs.submit("count", "sheep", gate)


def test_jobs_are_remembered_over_a_restart(tmp_path: Path) -> None:
    jobs = Jobs(tmp_path, describe=describe)
    done = jobs.submit("count", "sheep", lambda _: {"counted": 3}).wait(SECONDS)
    gate = Gate()
    cut = jobs.submit("count", "goats", gate)
    assert gate.reached.wait(SECONDS)
    jobs.close()
    assert cut.status.state is JobState.INTERRUPTED
    with pytest.raises(UnavailableError):
        jobs.submit("count", "cows", gate)
    again = Jobs(tmp_path, describe=describe)
    assert [job.status for job in again.list()] == [cut.status, done]
    assert again.get(done.id).wait(0) == done


def test_a_job_that_a_kill_met_is_interrupted(tmp_path: Path) -> None:
    jobs = Jobs(tmp_path, describe=describe)
    gate = Gate()
    job = jobs.submit("count", "sheep", gate)
    assert gate.reached.wait(SECONDS)
    # What a killed process leaves is the record of its last state, and what it was writing.
    (tmp_path / f"{job.status.id}.json.123{STAGED}").write_bytes(b'{"id": ')
    (after,) = Jobs(tmp_path, describe=describe).list()
    assert [path.name for path in tmp_path.iterdir()] == [f"{job.status.id}.json"]
    assert after.status.id == job.status.id
    assert after.status.state is JobState.INTERRUPTED
    assert after.status.finished is not None
    jobs.close()


def test_a_damaged_record_costs_no_other(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    jobs = Jobs(tmp_path, describe=describe)
    kept = jobs.submit("count", "sheep", lambda _: {}).wait(SECONDS)
    (tmp_path / "0.json").write_bytes(b'{"id": ')
    assert [job.status.id for job in Jobs(tmp_path, describe=describe).list()] == [kept.id]
    assert "0.json" in caplog.text


def test_a_disk_that_refuses_costs_only_the_memory(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("no directory")
    jobs = Jobs(tmp_path / "file" / "jobs", describe=describe)
    assert jobs.submit("count", "sheep", lambda _: {}).wait(SECONDS).state is JobState.SUCCEEDED
    assert "not remembered" in caplog.text


def test_a_full_disk_is_left_no_half_written_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    jobs = Jobs(tmp_path, describe=describe)
    monkeypatch.setattr(os, "fsync", full)
    assert jobs.submit("count", "sheep", lambda _: {}).wait(SECONDS).state is JobState.SUCCEEDED
    jobs.close()
    assert list(tmp_path.iterdir()) == []
