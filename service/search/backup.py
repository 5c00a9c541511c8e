"""Copy a data directory while it is served: databases in one consistent state each."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from service.errors import ConflictError, NotFoundError, StorageError

_SIDE_FILES = ("-wal", "-shm", "-journal")
_REBUILT = "index.faiss"
"""Built from the database where it is missing or of another state, so a copy gains nothing."""


def back_up(data: Path, to: Path) -> list[Path]:
    """Copy what is below `data` to the new directory `to`; return what was copied, relative.

    SQLite's own backup copies each database as it is at one moment, whoever writes to it; what is
    acknowledged before this call is in it. Indexes are left out: they are built from the database.

    Raises:
        NotFoundError: There is no such data directory.
        ConflictError: There is something at `to` already.
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
    files = [path for path in sorted(data.rglob("*")) if path.is_file() and _wanted(path)]
    try:
        for file in files:
            copy = to / file.relative_to(data)
            copy.parent.mkdir(parents=True, exist_ok=True)
            if file.suffix == ".sqlite3":
                _copy_database(file, copy)
            else:
                shutil.copy2(file, copy)
    except (OSError, sqlite3.Error) as error:
        raise StorageError(f"The backup is not whole: {error}.", path=to) from error
    return [file.relative_to(data) for file in files]


def _wanted(path: Path) -> bool:
    return path.name != _REBUILT and not path.name.endswith(_SIDE_FILES)


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
