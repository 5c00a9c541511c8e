from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from service.errors import StorageError, UnavailableError
from service.search import database as database_module
from service.search.database import CHECKPOINT_BYTES, IDLE_READERS, Database, connect


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    path = tmp_path / "file.sqlite3"
    with closing(connect(path, create=True)) as connection:
        connection.execute("CREATE TABLE numbers (n INTEGER)")
    database = Database(path)
    yield database
    database.close()


def insert(database: Database, n: int, *, commit: bool = True) -> None:
    with database.writing() as connection:
        connection.execute("INSERT INTO numbers VALUES (?)", (n,))
        if commit:
            connection.execute("COMMIT")


def numbers(connection: sqlite3.Connection) -> list[int]:
    return [row[0] for row in connection.execute("SELECT n FROM numbers ORDER BY n")]


def test_every_commit_is_synced(database: Database) -> None:
    with database.writing() as connection:
        (journal,) = connection.execute("PRAGMA journal_mode").fetchone()
        (synchronous,) = connection.execute("PRAGMA synchronous").fetchone()
    assert (journal, synchronous) == ("wal", 2)


def test_what_is_not_committed_is_undone(database: Database) -> None:
    insert(database, 1)
    insert(database, 2, commit=False)
    failed = pytest.raises(sqlite3.ProgrammingError)  # wrong use is told as it is
    with failed, database.writing() as connection:
        connection.executemany("INSERT INTO numbers VALUES (?)", [(3,), ()])
    with database.reading() as connection:
        assert numbers(connection) == [1]


def test_reader_keeps_its_snapshot_while_others_write(database: Database) -> None:
    insert(database, 1)
    with database.reading() as connection:
        connection.execute("BEGIN")
        assert numbers(connection) == [1]
        insert(database, 2)
        assert numbers(connection) == [1]
    with database.reading() as connection:
        assert numbers(connection) == [1, 2]


def test_readers_cannot_write(database: Database) -> None:
    with pytest.raises(StorageError, match="read-only"), database.reading() as connection:
        connection.execute("INSERT INTO numbers VALUES (1)")


def test_burst_of_readers_leaves_few_open(database: Database) -> None:
    borrowed = [database.reading() for _ in range(3 * IDLE_READERS)]
    for context in borrowed:
        context.__enter__()
    for context in borrowed:
        context.__exit__(None, None, None)
    assert len(database._idle) == IDLE_READERS


def test_log_is_folded_into_the_database(database: Database) -> None:
    log = database.path.with_name(database.path.name + "-wal")
    with database.writing() as connection:
        connection.execute("CREATE TABLE blobs (b BLOB)")
        connection.execute("INSERT INTO blobs VALUES (zeroblob(?))", (CHECKPOINT_BYTES,))
        connection.execute("COMMIT")
    folded = log.stat().st_size
    assert folded >= CHECKPOINT_BYTES
    database._join_folding()
    insert(database, 1)  # begins the log anew, over what was folded
    assert log.stat().st_size == folded
    assert database.path.stat().st_size >= CHECKPOINT_BYTES


def test_full_disk_is_a_storage_error_and_loses_nothing(database: Database) -> None:
    insert(database, 1)
    with database.writing() as connection:
        connection.execute("COMMIT")
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages}")
    full = pytest.raises(StorageError, match="disk is full")
    with full as caught, database.writing() as connection:
        connection.execute("CREATE TABLE blobs (b BLOB)")
    assert caught.value.remedy is not None
    insert(database, 2)
    with database.reading() as connection:
        assert numbers(connection) == [1, 2]


@pytest.mark.parametrize("content", [b"", b"not a database, by far" * 100])
def test_file_that_is_no_database(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "file.sqlite3"
    path.write_bytes(content)
    if content:
        with pytest.raises(StorageError, match="is damaged"):
            Database(path)
    else:  # an empty file is an empty database to SQLite; the store finds no schema in it
        Database(path).close()


def test_missing_file_is_not_made(tmp_path: Path) -> None:
    path = tmp_path / "missing.sqlite3"
    with pytest.raises(StorageError, match="cannot be opened"):
        Database(path)
    assert not path.exists()


def test_closed_database_is_unavailable(database: Database) -> None:
    with database.reading():
        database.close()  # what is lent out is closed when it comes back
    with pytest.raises(UnavailableError), database.reading():
        pass
    with pytest.raises(UnavailableError), database.writing():
        pass


def test_the_log_is_folded_beside_the_writes_and_does_not_grow_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_module, "CHECKPOINT_BYTES", 50_000)
    monkeypatch.setattr(database_module, "LARGEST_LOG_BYTES", 400_000)
    path = tmp_path / "log.sqlite3"
    with closing(connect(path, create=True)) as connection:
        connection.execute("CREATE TABLE t (x)")
    database = Database(path)
    log = tmp_path / "log.sqlite3-wal"
    largest = 0
    for _ in range(200):
        with database.writing() as writer:
            writer.execute("INSERT INTO t VALUES (?)", ("x" * 20_000,))
            writer.execute("COMMIT")
        largest = max(largest, log.stat().st_size)
    assert largest < 1_000_000, "200 writes of 20,000 bytes made a log of all of them"
    with database.reading() as reader:
        assert reader.execute("SELECT count(*) FROM t").fetchone() == (200,)
    database.close()
    assert not log.exists()
