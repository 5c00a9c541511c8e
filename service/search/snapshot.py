"""Reads of a store, all of one moment."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import orjson

from service.errors import StorageError
from service.inference.session import Vectors
from service.search.document import Document, Metadata, document_as_stored
from service.search.filters import Condition

Keys: TypeAlias = npt.NDArray[np.int64]
"""int64 [n]: keys of documents, or of their vectors: the same but where there are passages."""

UNDETERMINED = "und"
"""BCP 47's code for a language that is not known."""

VECTORS_AT_ONCE = 4096
"""How many are read in one go, so that building an index needs little beside the index."""

# In the SQL that is put together below, only column names and a Condition are pasted; a Condition
# binds whatever a caller gave as a parameter, so S608 does not apply.
_EVERY = Condition("1")
_COLUMNS = "key, id, text, language, metadata, passages"


class Snapshot:
    """Reads of one store; from `begin` on they do not see what others commit.

    Args:
        connection: Lent for as long as the snapshot is used.
        path: Of the file, for messages.
        dimension: Width of the vectors.
        passages: Whether a document may have several.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        path: Path,
        dimension: int,
        *,
        passages: bool = False,
    ) -> None:
        self._connection = connection
        self._path = path
        self._passages = passages
        self.dimension = dimension

    def begin(self) -> int:
        """Fix the moment; return the generation that the store has in it."""
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")
        self._connection.execute("BEGIN")
        # BEGIN alone fixes nothing: the first read does.
        (generation,) = self._connection.execute("SELECT generation FROM corpus").fetchone()
        return int(generation)

    def keys(self, condition: Condition | None = None) -> Keys:
        """Return the keys of the vectors whose documents meet `condition`, ascending."""
        return self.vector_keys(self.document_keys(condition))

    def vector_keys(self, keys: Keys) -> Keys:
        """Return the keys of the vectors of the documents `keys`; both ascending."""
        if not self._passages or not len(keys):
            return keys
        counts = np.ones(len(keys), dtype=np.int64)
        several = dict(
            self._connection.execute(
                "SELECT key, json_array_length(passages) FROM documents "
                "WHERE passages IS NOT NULL AND key BETWEEN ? AND ?",
                (int(keys[0]), int(keys[-1])),
            )
        )
        split = np.fromiter(several, np.int64, len(several))
        rows = np.searchsorted(keys, split)
        inside = rows < len(keys)
        inside[inside] = keys[rows[inside]] == split[inside]
        counts[rows[inside]] = np.fromiter(several.values(), np.int64, len(several))[inside]
        starts = np.repeat(keys - (np.cumsum(counts) - counts), counts)
        expanded: Keys = starts + np.arange(int(counts.sum()), dtype=np.int64)
        return expanded

    def owners(self, keys: Iterable[int]) -> dict[int, int]:
        """Return key of a vector -> key of its document."""
        if not self._passages:
            return {key: key for key in keys}
        rows = self._connection.execute(
            "SELECT value, (SELECT max(key) FROM documents WHERE key <= value) FROM json_each(?)",
            (orjson.dumps(list(keys)).decode(),),
        )
        return dict(rows.fetchall())

    def document_keys(self, condition: Condition | None = None) -> Keys:
        """Return the keys of the documents that meet `condition`, ascending."""
        where = condition or _EVERY
        rows = self._connection.execute(
            f"SELECT key FROM documents WHERE {where.sql}",  # noqa: S608
            where.parameters,
        )
        # Sorted here, so that SQLite may walk its smallest index and leave the texts alone.
        return np.sort(np.fromiter((row[0] for row in rows), dtype=np.int64))

    def has_documents(self) -> bool:
        """Return whether there are any."""
        (found,) = self._connection.execute("SELECT EXISTS (SELECT 1 FROM documents)").fetchone()
        return bool(found)

    def has_field(self, name: str) -> bool:
        """Return whether any document has the metadata field `name`."""
        (found,) = self._connection.execute(
            "SELECT EXISTS (SELECT 1 FROM documents WHERE json_type(metadata, ?) IS NOT NULL)",
            (f'$."{name}"',),
        ).fetchone()
        return bool(found)

    def ids(self) -> set[str]:
        """Return the ids of all documents."""
        return {row[0] for row in self._connection.execute("SELECT id FROM documents")}

    def keys_of(self, ids: Iterable[str]) -> dict[str, int]:
        """Return id -> key for those `ids` that are there."""
        rows = self._connection.execute(
            "SELECT id, key FROM documents WHERE id IN (SELECT value FROM json_each(?))",
            (orjson.dumps(list(ids)).decode(),),
        )
        return dict(rows.fetchall())

    def documents(self, keys: Sequence[int]) -> dict[int, Document]:
        """Return key -> document.

        Raises:
            StorageError: A key that is not there, though an index or an id led to it.
        """
        rows = self._connection.execute(
            f"SELECT {_COLUMNS} FROM documents "  # noqa: S608
            "WHERE key IN (SELECT value FROM json_each(?))",
            (orjson.dumps(keys).decode(),),
        )
        found = {row[0]: _document(row) for row in rows}
        if len(found) != len(set(keys)):
            missing = next(key for key in keys if key not in found)
            raise self._inconsistent(missing)
        return found

    def page(
        self, *, after: int, limit: int, condition: Condition | None = None
    ) -> list[tuple[int, Document]]:
        """Return up to `limit` pairs of key and document with keys greater than `after`."""
        where = condition or _EVERY
        rows = self._connection.execute(
            f"SELECT {_COLUMNS} FROM documents "  # noqa: S608
            f"WHERE key > ? AND {where.sql} ORDER BY key LIMIT ?",
            (after, *where.parameters, limit),
        )
        return [(row[0], _document(row)) for row in rows]

    def vectors(self, keys: Keys) -> Vectors:
        """Return float32 [keys, dimension], in the order of `keys` of vectors, which must be there.

        Raises:
            StorageError: A vector that is missing or of another width: the file was tampered with.
        """
        rows = self._connection.execute(
            "SELECT key, vector FROM vectors WHERE key IN (SELECT value FROM json_each(?))",
            (orjson.dumps(keys.tolist()).decode(),),
        )
        found = dict(rows.fetchall())
        width = np.dtype(np.float32).itemsize * self.dimension
        parts = []
        for key in keys.tolist():
            part = found.get(key)
            if part is None or len(part) != width:
                raise self._inconsistent(key)
            parts.append(part)
        vectors = np.frombuffer(b"".join(parts), dtype=np.float32)
        return vectors.reshape(len(keys), self.dimension)

    def vector_batches(self, keys: Keys) -> Iterator[tuple[Keys, Vectors]]:
        """Yield the vectors of `keys` in parts small enough to hold."""
        for start in range(0, len(keys), VECTORS_AT_ONCE):
            part = keys[start : start + VECTORS_AT_ONCE]
            yield part, self.vectors(part)

    def languages(self) -> dict[str, int]:
        """Return language -> number of documents, by language; `und` where it is not known."""
        rows = self._connection.execute(
            "SELECT coalesce(language, ?), count(*) FROM documents GROUP BY language ORDER BY 1",
            (UNDETERMINED,),
        )
        return dict(rows.fetchall())

    def _inconsistent(self, key: int) -> StorageError:
        return StorageError(
            f"The corpus' database is damaged: row {key} is missing or cut.",
            path=self._path,
            remedy="Restore the corpus from a copy, or drop it.",
        )


def as_json(metadata: Metadata) -> str:
    """Return `metadata` as it is stored: UTF-8 without escapes, as SQLite's JSON paths need it."""
    return orjson.dumps(dict(metadata)).decode()


def _document(row: tuple[int, str, str, str | None, str, str | None]) -> Document:
    _, id, text, language, metadata, passages = row
    parsed: Mapping[str, str | int | float | bool | list[str | int | float | bool | None] | None]
    parsed = orjson.loads(metadata)
    spans = () if passages is None else tuple(map(tuple, orjson.loads(passages)))
    return document_as_stored(id, text, language, parsed, spans)
