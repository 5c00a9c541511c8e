"""Documents and vectors of one corpus in one SQLite file: the truth, of which indexes are copies.

- A document gets a new integer key whenever it is written: the time in microseconds, or one more
  than the key before. No key is given twice, not even after the file was replaced by an older
  copy, where a plain counter would give the same numbers to other documents. So a key names one
  vector for good, and an index differs from the store by two sets of keys alone.
- A document of n passages takes n keys in a row, one a vector; the first is its own.
- Every write changes the generation, by the same rule; an index that carries it is current.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import numpy as np
import orjson

from service.errors import StorageError
from service.inference.session import Vectors
from service.search.database import Database, connect, replaced, storage_errors
from service.search.document import Document, Metadata
from service.search.fields import FieldTypes
from service.search.filters import Condition
from service.search.passages import PassagePolicy, vector_counts
from service.search.replacement import is_being_replaced
from service.search.snapshot import Keys, Snapshot, as_json

SCHEMA_VERSION = 4

_SCHEMA = f"""
BEGIN;
CREATE TABLE corpus (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    model TEXT NOT NULL,
    space TEXT NOT NULL,
    dimension INTEGER NOT NULL,
    metadata TEXT NOT NULL,
    created TEXT NOT NULL,
    generation INTEGER NOT NULL,
    last_key INTEGER NOT NULL DEFAULT 0,
    passages TEXT,
    fields TEXT,
    identity TEXT
) STRICT;
CREATE TABLE documents (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    text TEXT NOT NULL,
    language TEXT,
    metadata TEXT NOT NULL,
    passages TEXT
) STRICT;
CREATE INDEX documents_language ON documents (language);
CREATE TABLE vectors (key INTEGER PRIMARY KEY, vector BLOB NOT NULL) STRICT;
PRAGMA user_version = {SCHEMA_VERSION};
COMMIT;
"""

# What makes a database of one version one of the next.
_UPGRADES = {
    1: (
        "ALTER TABLE corpus ADD COLUMN last_key INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE corpus ADD COLUMN passages TEXT",
        "ALTER TABLE documents ADD COLUMN passages TEXT",
        "UPDATE corpus SET last_key = coalesce("
        "(SELECT seq FROM sqlite_sequence WHERE name = 'documents'), 0)",
    ),
    2: ("ALTER TABLE corpus ADD COLUMN fields TEXT",),
    3: ("ALTER TABLE corpus ADD COLUMN identity TEXT",),
}


@dataclass(frozen=True, slots=True)
class Header:
    """What a corpus is from its creation on."""

    model: str
    space: str
    dimension: int
    metadata: Metadata
    created: datetime
    passages: PassagePolicy | None = None
    fields: FieldTypes | None = None
    identity: str | None = None  # of the model's weights; None where an earlier build made it


@dataclass(frozen=True, slots=True)
class Change:
    """One write, as an index has to follow it."""

    before: int  # the store's generation, until it is committed
    generation: int  # and from then on
    removed: Keys  # of vectors
    added: Keys  # of vectors, ascending, each greater than any before
    vectors: Vectors  # [added, dimension]
    replaced: int = 0  # documents that were deleted or replaced


class Store:
    """The SQLite file of one corpus.

    Reads may come from any thread; the caller sees to it that one thread writes at a time.

    Args:
        path: The file, made by `create_store`.

    Raises:
        StorageError: It cannot be opened, or is not a corpus of this version.
    """

    def __init__(self, path: Path) -> None:
        self._database = Database(path)
        self._name = path.parent.name
        self._retired = False
        try:
            self.header = self._read_header()
        except BaseException:
            self._database.close()
            raise

    @property
    def path(self) -> Path:
        """The SQLite file."""
        return self._database.path

    @property
    def in_place(self) -> bool:
        """Whether its path leads to it still."""
        return self._database.in_place

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        """Lend a view of the store as it is at the moment of `Snapshot.begin`."""
        with self._database.reading() as connection:
            yield self._view(connection)

    @contextmanager
    def transaction(self, patience: float | None = None) -> Iterator[Transaction]:
        """Begin a write; without `Transaction.commit` it is undone.

        Args:
            patience: Seconds to wait for another process that writes; see `Database.writing`.

        Raises:
            StorageError: It still writes.
            UnavailableError: Another has taken the store's place, or is about to.
        """
        with self._database.writing(patience) as connection:
            if self._retired or is_being_replaced(self.path.parent):
                raise replaced(self._name)
            yield Transaction(connection, self._view(connection))

    @contextmanager
    def held(self) -> Iterator[None]:
        """Have writers wait, those of other processes too."""
        with self._database.writing():
            yield

    def retire(self, path: Path) -> None:
        """Refuse writes from now on: another has taken its place. Reads go on until `close`.

        Args:
            path: Where its file was moved to.
        """
        self._retired = True
        self._database.moved(path)

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()

    def _view(self, connection: sqlite3.Connection) -> Snapshot:
        header = self.header
        return Snapshot(
            connection, self.path, header.dimension, passages=header.passages is not None
        )

    def _read_header(self) -> Header:
        with self._database.reading() as connection:
            (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version in _UPGRADES:
            version = _upgrade(self.path)
        with self._database.reading() as connection:
            if version == 0:
                raise StorageError(
                    "The database holds no corpus: it is empty, or another program's.",
                    path=self.path,
                    remedy="Restore the corpus from a copy, or drop it.",
                )
            if version != SCHEMA_VERSION:
                raise StorageError(
                    f"The database has schema version {version}; this service reads "
                    f"{SCHEMA_VERSION}.",
                    path=self.path,
                    remedy="Open it with the version of the service that wrote it.",
                )
            row = connection.execute(
                "SELECT model, space, dimension, metadata, created, passages, fields, identity "
                "FROM corpus"
            ).fetchone()
        if row is None:
            raise StorageError("The database does not say what corpus it is.", path=self.path)
        model, space, dimension, metadata, created, passages, fields, identity = row
        return Header(
            model,
            space,
            dimension,
            orjson.loads(metadata),
            datetime.fromisoformat(created),
            None if passages is None else PassagePolicy(**orjson.loads(passages)),
            None if fields is None else orjson.loads(fields),
            identity,
        )


class Transaction:
    """A write that has begun; at most one call of `upsert` or `delete`, then `commit`."""

    def __init__(self, connection: sqlite3.Connection, snapshot: Snapshot) -> None:
        self._connection = connection
        self._snapshot = snapshot

    def upsert(self, documents: Sequence[Document], vectors: Vectors) -> Change:
        """Write `documents` under new keys.

        Args:
            documents: No id twice.
            vectors: float32 [n, dimension], one for each passage of each document, in order.
        """
        known = self._snapshot.keys_of([document.id for document in documents])
        removed = self._remove(np.array(sorted(known.values()), dtype=np.int64))
        (last,) = self._connection.execute("SELECT last_key FROM corpus").fetchone()
        first = _after(last)
        added = np.arange(first, first + len(vectors), dtype=np.int64)
        counts = vector_counts(documents)
        keys: list[int] = (first + np.cumsum(counts) - counts).tolist()
        self._connection.executemany(
            "INSERT INTO documents (key, id, text, language, metadata, passages) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            (
                (
                    key,
                    document.id,
                    document.text,
                    document.language,
                    as_json(document.metadata),
                    orjson.dumps(document.passages).decode() if document.passages else None,
                )
                for key, document in zip(keys, documents, strict=True)
            ),
        )
        self._connection.executemany(
            "INSERT INTO vectors (key, vector) VALUES (?, ?)",
            ((key, vector.data) for key, vector in zip(added.tolist(), vectors, strict=True)),
        )
        self._connection.execute("UPDATE corpus SET last_key = ?", (first + len(vectors) - 1,))
        return Change(*self._next_generation(), removed, added, vectors, len(known))

    def delete(self, keys: Keys) -> Change:
        """Delete the documents that have `keys`."""
        removed = self._remove(keys)
        width = self._snapshot.dimension
        return Change(
            *self._next_generation(),
            removed,
            np.empty(0, dtype=np.int64),
            np.empty((0, width), dtype=np.float32),
            len(keys),
        )

    def keys_of(self, ids: Sequence[str]) -> Keys:
        """Return the keys of those `ids` that are there, ascending."""
        return np.array(sorted(self._snapshot.keys_of(ids).values()), dtype=np.int64)

    def keys_where(self, condition: Condition) -> Keys:
        """Return the keys of the documents that meet `condition`, ascending."""
        return self._snapshot.document_keys(condition)

    def commit(self) -> None:
        """Make it durable: when this returns, it survives a killed process and a power cut."""
        self._connection.execute("COMMIT")

    def _remove(self, keys: Keys) -> Keys:
        """Delete documents by key; return the keys of their vectors."""
        removed = self._snapshot.vector_keys(keys)
        for table, gone in (("documents", keys), ("vectors", removed)):
            self._connection.executemany(
                f"DELETE FROM {table} WHERE key = ?",  # noqa: S608 - a constant
                [(key,) for key in gone.tolist()],
            )
        return removed

    def _next_generation(self) -> tuple[int, int]:
        (before,) = self._connection.execute("SELECT generation FROM corpus").fetchone()
        generation = _after(before)
        self._connection.execute("UPDATE corpus SET generation = ?", (generation,))
        return before, generation


def _upgrade(path: Path) -> int:
    """Make the database at `path` one of this version; return the version that it has then."""
    with storage_errors(path), closing(connect(path)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        # Asked again: another process may have done it while this one waited for its turn.
        version: int = connection.execute("PRAGMA user_version").fetchone()[0]
        while version in _UPGRADES:
            for statement in _UPGRADES[version]:
                connection.execute(statement)
            version += 1
        connection.execute(f"PRAGMA user_version = {version}")
        connection.execute("COMMIT")
    return version


def _after(last: int) -> int:
    return max(last + 1, time.time_ns() // 1000)


def create_store(path: Path, header: Header) -> None:
    """Make the SQLite file of an empty corpus.

    Raises:
        StorageError: The disk refused.
    """
    with storage_errors(path), closing(connect(path, create=True)) as connection:
        connection.executescript(_SCHEMA)
        connection.execute(
            "INSERT INTO corpus (only, model, space, dimension, metadata, created, generation, "
            "passages, fields, identity) VALUES (1, ?, ?, ?, ?, ?, 0, ?, ?, ?)",
            (
                header.model,
                header.space,
                header.dimension,
                as_json(header.metadata),
                header.created.isoformat(),
                None if header.passages is None else orjson.dumps(header.passages).decode(),
                None if header.fields is None else orjson.dumps(dict(header.fields)).decode(),
                header.identity,
            ),
        )
