"""What is remembered of jobs over a restart: one small JSON file each."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path

import orjson
from pydantic import TypeAdapter, ValidationError

from service.durable import STAGED, replace_durably
from service.jobs.job import JobState, JobStatus

_STATUS = TypeAdapter(JobStatus)

_log = logging.getLogger(__name__)


class Journal:
    """The files of `directory`, which is made when the first is written.

    A journal that cannot be written costs only the memory of a job, so refusals of the disk are
    logged and not raised.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def write(self, status: JobStatus) -> None:
        """Keep `status` in place of what was kept of the job."""
        path = self._path(status.id)
        try:
            self._directory.mkdir(parents=True, exist_ok=True)
            replace_durably(path, orjson.dumps(asdict(status)))
        except OSError as error:
            _log.warning("Job %s is not remembered over a restart: %s.", status.id, error)

    def forget(self, id: str) -> None:
        """Delete what is kept of a job."""
        with suppress(OSError):
            self._path(id).unlink()

    def read(self) -> Iterator[JobStatus]:
        """Give every job that is remembered; those that were not over are interrupted now.

        What a killed process was writing is deleted.
        """
        for left in self._directory.glob(f"*{STAGED}"):
            with suppress(OSError):
                left.unlink()
        for path in sorted(self._directory.glob("*.json")):
            try:
                status = _STATUS.validate_json(path.read_bytes())
            except (OSError, ValidationError) as error:
                _log.warning("The record of a job %s cannot be read: %s.", path, error)
                continue
            if not status.state.final:
                status = replace(
                    status, state=JobState.INTERRUPTED, finished=datetime.now(UTC), note=None
                )
                self.write(status)
            yield status

    def _path(self, id: str) -> Path:
        return self._directory / f"{id}.json"
