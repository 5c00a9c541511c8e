"""Copy a data directory while it is served: databases in one consistent state each."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from service.durable import STAGED, sync
from service.errors import ConflictError, NotFoundError, StorageError
from service.locks import locked

PARTS = ("corpora", "classifiers", "jobs")
"""What of a data directory cannot be made again. A backup may lie beside them, as in a container
whose one volume is the data directory."""

_PASSING = ("-wal", "-shm", "-journal", ".new", STAGED)
"""Ends of what belongs to a database that is copied as a whole, or is still being written."""

_REBUILT = "index.faiss"
"""Built from the database where it is missing or of another state, so a copy gains nothing."""


def back_up(data: Path, to: Path) -> list[Path]:
    """Copy the `PARTS` of `data` to the new directory `to`; return what was copied, relative.

    SQLite's own backup copies each database as it is at one moment, whoever writes to it; what is
    acknowledged before this call is in it, but for what is dropped before it is reached. Indexes
    are left out: they are built from the database. `to` is there once it is whole: until then it is
    filled under a name that begins with a dot, and what a killed process left there is deleted.

    Raises:
        NotFoundError: There is no such data directory.
        ConflictError: There is something at `to` already, it lies among what is copied, or another
            process makes it.
        StorageError: The disk refused, or a database is damaged.
    """
    if not data.is_dir():
        raise NotFoundError("There is no such data directory.", field="data", given=str(data))
    if to.exists():
        raise ConflictError(
            "A backup goes to a new directory.",
            field="to",
            given=str(to),
            remedy="Name one that is not there, with the date, say.",
        )
    if any(to.resolve().is_relative_to((data / part).resolve()) for part in PARTS):
        raise ConflictError(
            "A backup cannot lie among what it copies.",
            field="to",
            given=str(to),
            remedy="Name a directory elsewhere.",
        )
    staging = to.parent / f".{to.name}{STAGED}"
    try:
        staging.mkdir(parents=True, exist_ok=True)
        with locked(staging, wait=False):
            try:
                copied = _fill(staging, data)
                staging.rename(to)
                sync(to.parent)
            finally:
                shutil.rmtree(staging, ignore_errors=True)  # nothing there if it was renamed
    except BlockingIOError as error:
        raise ConflictError(
            "Another process makes this backup.",
            field="to",
            given=str(to),
            remedy="Wait until it has, or name another directory.",
        ) from error
    except (OSError, sqlite3.Error) as error:
        raise StorageError(f"The backup was given up: {error}.", path=to) from error
    return copied


def _fill(staging: Path, data: Path) -> list[Path]:
    """Copy into `staging`, emptied first; return what was copied, relative."""
    for left in staging.iterdir():
        shutil.rmtree(left)
    copied = []
    for file in _files(data):
        copy = staging / file.relative_to(data)
        copy.parent.mkdir(parents=True, exist_ok=True)
        if _copy(file, copy):
            copied.append(file.relative_to(data))
    return copied


def _files(data: Path) -> list[Path]:
    """Return the files to copy; names that begin with a dot are on their way in or out."""
    return [
        path
        for part in PARTS
        for path in sorted((data / part).rglob("*"))
        if path.is_file()
        and path.name != _REBUILT
        and not path.name.endswith(_PASSING)
        and not any(name.startswith(".") for name in path.relative_to(data).parts)
    ]


def _copy(file: Path, copy: Path) -> bool:
    """Return whether `file` was copied: it was not where it was dropped meanwhile."""
    try:
        if file.suffix == ".sqlite3":
            _copy_database(file, copy)
        else:
            shutil.copy2(file, copy)
    except (OSError, sqlite3.Error):
        if file.exists():
            raise
        copy.unlink(missing_ok=True)
        return False
    return True


def _copy_database(file: Path, copy: Path) -> None:
    with (
        closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as source,
        closing(sqlite3.connect(copy)) as target,
    ):
        source.backup(target)
        (verdict,) = target.execute("PRAGMA quick_check").fetchone()
        if verdict != "ok":
            raise StorageError(
                f"The database is damaged: {verdict}.", path=file, remedy="Keep the last backup."
            )
