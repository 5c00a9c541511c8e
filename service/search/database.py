"""SQLite connections: one that writes, a few that read, and refusals in our own words."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from service.errors import StorageError, UnavailableError

IDLE_READERS = 4
"""Kept open between searches; more are opened for a burst and closed after it."""

MAPPED_BYTES = 1 << 40
"""Of the file, read without a copy where SQLite was built to map so much (2 GiB as a rule); a
search reads some thirty rows from all over it."""

BUSY_SECONDS = 30.0
"""How long a write waits for those before it, in this process and in others, all in all."""

CHECKPOINT_BYTES = 16 << 20
"""Size of the write-ahead log from which it is folded into the database, beside the writes."""

LARGEST_LOG_BYTES = 256 << 20
"""From here on writes wait for it: under writes without a pause the log would grow for ever, as it
begins anew only where all of it is folded."""

_RENAME_SECONDS = (0.0, 0.01, 0.05, 0.2)
"""How long to wait before each look at a file whose folder is being renamed."""

# What SQLite says (primary result code) -> what to tell, and what to do about it.
_REFUSALS = {
    sqlite3.SQLITE_FULL: ("the disk is full", "Free some space and send it again."),
    sqlite3.SQLITE_READONLY: ("it is read-only", "Give the service the right to write there."),
    sqlite3.SQLITE_CANTOPEN: ("it cannot be opened", "Check that it is there and its rights."),
    sqlite3.SQLITE_CORRUPT: ("it is damaged", "Restore the corpus from a copy, or drop it."),
    sqlite3.SQLITE_NOTADB: ("it is damaged", "Restore the corpus from a copy, or drop it."),
    sqlite3.SQLITE_BUSY: ("another process holds it", "Try again in a while."),
    sqlite3.SQLITE_IOERR: ("the disk refused", "Check the disk and send it again."),
}


@contextmanager
def storage_errors(path: Path) -> Iterator[None]:
    """Turn what SQLite raises about `path` into StorageError; wrong use of it stays as it is."""
    try:
        yield
    except sqlite3.ProgrammingError:
        raise
    except sqlite3.DatabaseError as error:
        # Extended result codes hold the primary one in their low byte (sqlite.org/rescode.html).
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
        # An error without a code comes from Python's binding, which found text that is no UTF-8.
        reason, remedy = _REFUSALS.get(code, (str(error), "Restore the corpus from a copy."))
        raise StorageError(
            f"The corpus' database cannot be used: {reason} ({error}).", path=path, remedy=remedy
        ) from error


class Database:
    """One SQLite file in WAL mode: readers see a snapshot and never wait for the writer.

    `synchronous=FULL` syncs the log at every commit, so a commit that returned survives a killed
    process and a power cut (sqlite.org/pragma.html#pragma_synchronous: NORMAL may lose the last
    commits in WAL mode).

    Who drops a corpus or encodes it anew renames the folder of a file that others, in other
    processes too, have open. They may read on. What they write would be acknowledged and lost, and
    what they open by its path would be another file: so both look whether it is still theirs.

    Args:
        path: The file, which must be there.

    Raises:
        StorageError: It cannot be opened or is no database.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._name = path.parent.name
        self._mutex = threading.Lock()
        self._idle: list[sqlite3.Connection] = []
        self._closed = False
        self._folding: threading.Thread | None = None
        with storage_errors(path):
            self._writer = connect(path)
        self._identity = _identity(path)

    @property
    def in_place(self) -> bool:
        """Whether its path leads to it still: another process may have renamed its folder."""
        return _identity(self.path) == self._identity

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Lend a connection that only reads; a transaction left open is ended."""
        with storage_errors(self.path):
            connection = self._borrow()
            try:
                yield connection
            finally:
                self._give_back(connection)

    @contextmanager
    def writing(self, patience: float | None = None) -> Iterator[sqlite3.Connection]:
        """Begin a write on the one connection that writes; what is not committed is undone.

        The caller sees to it that only one thread writes; other processes wait.

        Args:
            patience: Seconds to wait for another process that writes; `BUSY_SECONDS` where None.

        Raises:
            StorageError: It still writes.
            UnavailableError: The file was replaced.
        """
        milliseconds = round(1000 * (BUSY_SECONDS if patience is None else patience))
        with storage_errors(self.path):
            self._check_open()
            self._writer.execute(f"PRAGMA busy_timeout = {milliseconds}")
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                # Within the write: who replaces the file holds its lock until that is done.
                if not self.in_place:
                    raise replaced(self._name)
                yield self._writer
            finally:
                _end(self._writer)
            self._fold_log()

    def moved(self, path: Path) -> None:
        """Follow the file to `path`, where its folder was renamed to."""
        self.path = path

    def close(self) -> None:
        """Close what is idle now, and what is lent out when it comes back."""
        with self._mutex:
            if self._closed:
                return
            self._closed = True
            idle, self._idle = self._idle, []
        self._join_folding()
        for connection in (*idle, self._writer):
            connection.close()

    def _borrow(self) -> sqlite3.Connection:
        with self._mutex:
            self._check_open()
            if self._idle:
                return self._idle.pop()
        connection = self._connect_again()
        connection.execute("PRAGMA query_only = ON")
        connection.execute(f"PRAGMA mmap_size = {MAPPED_BYTES}")
        return connection

    def _connect_again(self) -> sqlite3.Connection:
        for seconds in _RENAME_SECONDS:
            time.sleep(seconds)
            path = self.path
            if _identity(path) == self._identity:
                connection = connect(path)
                if _identity(path) == self._identity:
                    return connection
                connection.close()
        raise replaced(self._name)

    def _give_back(self, connection: sqlite3.Connection) -> None:
        _end(connection)
        with self._mutex:
            if not self._closed and len(self._idle) < IDLE_READERS:
                self._idle.append(connection)
                return
        connection.close()

    def _check_open(self) -> None:
        if self._closed:
            raise UnavailableError(f"The corpus {self._name!r} is closed.")

    def _fold_log(self) -> None:
        # SQLite would do this inside a commit, while searches wait for it (see
        # `service.search.live_index`); passive, it waits for nobody and nobody waits for it.
        log = self.path.with_name(self.path.name + "-wal")
        try:
            size = log.stat().st_size
        except OSError:
            return
        if size >= LARGEST_LOG_BYTES:
            self._join_folding()
            _fold(self._writer)
        elif size >= CHECKPOINT_BYTES and (self._folding is None or not self._folding.is_alive()):
            self._folding = threading.Thread(
                target=self._fold_aside, name=f"fold {self.path.parent.name}"
            )
            self._folding.start()

    def _fold_aside(self) -> None:
        with suppress(sqlite3.Error), closing(connect(self.path)) as connection:
            _fold(connection)

    def _join_folding(self) -> None:
        if self._folding is not None:
            self._folding.join()


@contextmanager
def in_turn(writing: threading.Lock, path: Path) -> Iterator[float]:
    """Hold `writing`, and give the seconds that are left to wait for other processes.

    Args:
        writing: Held by whoever writes to `path` in this process.
        path: Of the database.

    Raises:
        StorageError: Others have held it for `BUSY_SECONDS`.
    """
    ends = time.monotonic() + BUSY_SECONDS
    if not writing.acquire(timeout=BUSY_SECONDS):
        raise StorageError(
            "The corpus' database cannot be used: the writes before this one do not end.",
            path=path,
            remedy="Try again in a while.",
        )
    try:
        yield max(0.0, ends - time.monotonic())
    finally:
        writing.release()


def replaced(name: str) -> UnavailableError:
    """Return the refusal of what meets a corpus in whose place there is another, or none."""
    return UnavailableError(
        f"The corpus {name!r} was just encoded anew or dropped.", remedy="Send it again."
    )


def _identity(path: Path) -> tuple[int, int] | None:
    """Return what tells a file from another of the same path; None where there is none."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino


def _fold(connection: sqlite3.Connection) -> None:
    with suppress(sqlite3.OperationalError):
        connection.execute("PRAGMA wal_checkpoint(PASSIVE)")


def connect(path: Path, *, create: bool = False) -> sqlite3.Connection:
    """Return a connection that threads may hand on to each other, in autocommit mode."""
    mode = "rwc" if create else "rw"
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}",
        uri=True,
        isolation_level=None,
        check_same_thread=False,
        timeout=BUSY_SECONDS,
    )
    try:
        if create:
            # Two vectors of 384 numbers leave a quarter of a 4 KiB page empty; five fit in 8 KiB.
            connection.execute("PRAGMA page_size = 8192")
            # Kept in the file; asking for it at each opening would write into one that is empty.
            connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA wal_autocheckpoint = 0")
    except BaseException:
        connection.close()
        raise
    return connection


def _end(connection: sqlite3.Connection) -> None:
    # A failed statement may have rolled back by itself, and a broken disk cannot do even that:
    # either way the error that led here is the one to tell.
    with suppress(sqlite3.Error):
        if connection.in_transaction:
            connection.execute("ROLLBACK")
