"""/jobs: watch and end work that goes on after its request was answered."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from service.api.auth import needs
from service.api.openapi import answer
from service.api.responses import Json
from service.api.schemas.jobs import JobAnswer, JobsAnswer
from service.api.work import Work, WorkOf
from service.jobs.job import Job, JobStatus, Result
from service.jobs.jobs import no_such_job
from service.security.grants import Grant, Scope

REENCODE = "reencode"
"""The kind of job whose subject is a corpus."""

FIT = "fit"
"""The kind of job whose subject is a classifier, and whose errors may quote a text."""

_TOLD_TO_ALL = frozenset({"type", "title", "status"})
"""Members of a problem that quote nothing."""

router = APIRouter(prefix="/jobs", tags=["jobs"])

WaitSeconds = Annotated[
    float, Query(ge=0, le=600, description="Seconds to wait for it to end before answering")
]


@router.get("", responses=answer(JobsAnswer, "All jobs, the latest first"))
@needs(Scope.WRITE, Scope.ADMIN)
async def list_jobs(work: WorkOf) -> Json:
    """List the jobs that are remembered."""
    jobs = [job.status for job in work.resources.jobs.list() if _seen(job.status, work)]
    return Json({"jobs": [describe_job(job, work.grant) for job in jobs]})


@router.get("/{id}", responses=answer(JobAnswer, "The job"))
@needs(Scope.WRITE, Scope.ADMIN)
async def get_job(id: str, work: WorkOf, wait: WaitSeconds = 0.0) -> Json:
    """Describe one job; with `wait`, not before it is over or so many seconds have passed.

    A service that is about to stop has nobody wait.
    """
    job = _job(id, work)
    return Json(describe_job(await _settled(job, work, wait), work.grant))


@router.delete("/{id}", responses=answer(JobAnswer, "It was asked to end; or it was over"))
@needs(Scope.WRITE, Scope.ADMIN)
async def cancel_job(id: str, work: WorkOf) -> Json:
    """Ask a job to end; forget one that is over."""
    status = await work.run(work.resources.jobs.cancel, _job(id, work).status.id)
    return Json(describe_job(status, work.grant))


async def job_answer(job: Job, work: Work, *, wait: bool) -> Response:
    """Return 202 and the job's address, or with `wait` 200 and the job once it is over.

    Where the wait ends before the job does it is 202 after all.

    Args:
        job: Just submitted.
        work: The request's; its timeout bounds the wait.
        wait: What the request asked for as `?wait=true`.
    """
    status = await _settled(job, work, work.timeout_seconds if wait else 0.0)
    response = Json(
        describe_job(status, work.grant), status_code=200 if status.state.final else 202
    )
    response.headers["location"] = f"/jobs/{status.id}"
    return response


def describe_job(status: JobStatus, grant: Grant) -> dict[str, object]:
    """Return a job as a client sees it; who may not read what it read sees how it failed alone."""
    left = status.seconds_left
    return {
        "id": status.id,
        "kind": status.kind,
        "subject": status.subject,
        "state": status.state.value,
        "done": status.done,
        "total": status.total,
        "note": status.note,
        "seconds_left": None if left is None else round(left, 1),
        "created": _time(status.created),
        "started": _time(status.started),
        "finished": _time(status.finished),
        "result": status.result,
        "error": _error(status, grant),
    }


def _job(id: str, work: Work) -> Job:
    job = work.resources.jobs.get(id)
    if not _seen(job.status, work):
        raise no_such_job(id)
    return job


def _seen(status: JobStatus, work: Work) -> bool:
    """Return whether the client may know of a job: those on corpora are of its corpora alone."""
    return status.kind != REENCODE or work.grant.allows(status.subject)


def _error(status: JobStatus, grant: Grant) -> Result | None:
    error = status.error
    if error is None or status.kind != FIT or _may_read(status, grant):
        return error
    return {name: value for name, value in error.items() if name in _TOLD_TO_ALL}


def _may_read(status: JobStatus, grant: Grant) -> bool:
    """Return whether the client sent what a fit read, or may read the corpus that it read."""
    if grant.client in ("", status.client):  # no name: no keys are set
        return True
    return status.corpus is not None and grant.reads(status.corpus)


async def _settled(job: Job, work: Work, seconds: float) -> JobStatus:
    if seconds <= 0:
        return job.status
    # Shielded, since the end of a wait must not cancel the future that others wait for.
    over = asyncio.shield(asyncio.wrap_future(job.outcome))
    # The job is broken off by a stop; who waits for it would only hold the stop up.
    departure = asyncio.create_task(work.departure.wait())
    ends: tuple[asyncio.Future[Any], ...] = (over, departure)
    try:
        async with work.client_there():
            await asyncio.wait(ends, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        departure.cancel()
    return job.status


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat(timespec="milliseconds")
