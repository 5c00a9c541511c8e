"""Answers of /jobs."""

from __future__ import annotations

from pydantic import Field, JsonValue

from service.api.schemas.parts import Answer
from service.jobs.job import JobState


class JobAnswer(Answer):
    """A job."""

    id: str
    kind: str = Field(description="What is done: reencode, fit")
    subject: str = Field(description="To what: the name of a corpus or classifier")
    state: JobState = Field(
        description="queued, running, succeeded, failed, cancelled, or interrupted by a stop of "
        "the service"
    )
    done: int = Field(description="Units of work that are done, such as documents")
    total: int | None = Field(description="Of so many, where that is known")
    note: str | None
    seconds_left: float | None = Field(description="At the mean pace so far")
    created: str = Field(description="RFC 3339, UTC")
    started: str | None
    finished: str | None
    result: dict[str, JsonValue] | None
    error: dict[str, JsonValue] | None = Field(
        description="A problem, where it failed; of a fit that another client began, on what the "
        "key may not read, its type, title and status"
    )


class JobsAnswer(Answer):
    """All jobs."""

    jobs: list[JobAnswer]
