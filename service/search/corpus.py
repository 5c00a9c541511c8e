"""One corpus: a store, and an index that never shows anything else than the store.

How searches and writes keep out of each other's way:

- A write takes `_writing`, does all its work in SQLite, and only then takes `_lock` alone to
  commit and to bring the index to the same state. Searches wait for the sync to disk, no more.
- A search takes `_lock` together with other searches, and under it fixes its SQLite snapshot and
  asks the index. Both show the same state, so each neighbour's document is in the snapshot, and
  is read from it after the lock is let go.
- The generation tells whether that is so. It differs after another process wrote to the file, or
  when the index could not follow a write; then the search brings the index up to date first.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from service.errors import ConflictError, InputError, NotFoundError, StorageError
from service.inference.session import Vectors
from service.search.backend import CorpusInfo, Page, UpsertCounts
from service.search.checks import (
    check_count,
    check_unique,
    check_whole,
    key_after,
    lowest_score,
    unit_vectors,
)
from service.search.document import Document, Hit
from service.search.filters import Condition, Filter, compile_conditions
from service.search.index import NO_KEY, VectorIndex, load_index
from service.search.locks import SharedLock
from service.search.nearest import nearest_documents
from service.search.passages import PassagePolicy, mean_vectors, span_of, vector_counts
from service.search.snapshot import Keys, Snapshot
from service.search.store import Change, Store, Transaction

STORE_FILE = "documents.sqlite3"
INDEX_FILE = "index.faiss"

SAVE_ROWS = 20_000
"""The index is saved after so many changes, or as many as half of its rows, and when closed."""

_log = logging.getLogger(__name__)


class Corpus:
    """The corpus in `directory`; see `service.search.backend.CorpusBackend` for its methods.

    Args:
        directory: Made by `Corpora.create`; its name is the corpus' name.

    Raises:
        StorageError: Its database cannot be opened.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._store = Store(directory / STORE_FILE)
        self._writing = threading.Lock()
        self._lock = SharedLock()
        self._info: tuple[int, CorpusInfo] | None = None
        try:
            self._index = load_index(directory / INDEX_FILE, self.dimension)
            with self._store.snapshot() as snapshot:
                self._index.catch_up(snapshot, snapshot.begin())
        except BaseException:
            self._store.close()
            raise

    @property
    def name(self) -> str:
        """Its name."""
        return self._directory.name

    @property
    def space(self) -> str:
        """The vector space its vectors lie in."""
        return self._store.header.space

    @property
    def dimension(self) -> int:
        """Width of its vectors."""
        return self._store.header.dimension

    @property
    def passages(self) -> PassagePolicy | None:
        """How its documents are split; None where they are searched as a whole."""
        return self._store.header.passages

    def require_space(self, space: str, *, model: str) -> None:
        """Raise ConflictError unless vectors of `space`, made by `model`, fit this corpus."""
        if space != self.space:
            raise ConflictError(
                f"Corpus {self.name!r} holds vectors of the space {self.space!r}, made by "
                f"{self._store.header.model}; {model} makes vectors of {space!r}.",
                field="model",
                given=model,
                remedy=f"Use {self._store.header.model}, or a model of the same space.",
            )

    def info(self) -> CorpusInfo:
        """Describe it as it is now."""
        with self._store.snapshot() as snapshot:
            generation = snapshot.begin()
            known = self._info
            if known is None or known[0] != generation:
                self._info = known = generation, self._describe(snapshot)
        return known[1]

    def upsert(self, documents: Sequence[Document], vectors: Vectors) -> UpsertCounts:
        """Insert or replace `documents`, all or none."""
        rows = int(vector_counts(documents).sum())
        unit = unit_vectors(vectors, dimension=self.dimension, rows=rows)
        check_unique(documents)
        if self.passages is None:
            check_whole(documents)
        if not documents:
            return UpsertCounts(0, 0)
        with self._writing, self._store.transaction() as transaction:
            change = transaction.upsert(documents, unit)
            self._commit(transaction, change)
        updated = change.replaced
        return UpsertCounts(inserted=len(documents) - updated, updated=updated)

    def get_document(self, id: str) -> Document:
        """Return one document, or raise NotFoundError."""
        return self.get_documents([id])[0]

    def get_documents(self, ids: Sequence[str]) -> list[Document]:
        """Return the documents in the order of `ids`."""
        with self._store.snapshot() as snapshot:
            keys = self._keys_of(snapshot, ids)
            found = snapshot.documents(keys)
        return [found[key] for key in keys]

    def find(self, ids: Sequence[str]) -> dict[str, Document]:
        """Return id -> document for those `ids` that are there."""
        with self._store.snapshot() as snapshot:
            snapshot.begin()
            found = snapshot.documents(list(snapshot.keys_of(ids).values()))
        return {document.id: document for document in found.values()}

    def page(
        self,
        cursor: str | None = None,
        *,
        limit: int = 100,
        language: str | None = None,
        filter: Filter | None = None,
    ) -> Page:
        """Return up to `limit` documents after `cursor`."""
        check_count("limit", limit)
        condition = compile_conditions(filter, None if language is None else [language])
        with self._store.snapshot() as snapshot:
            snapshot.begin()
            rows = snapshot.page(after=key_after(cursor), limit=limit + 1, condition=condition)
        documents = tuple(document for _, document in rows[:limit])
        return Page(documents, str(rows[limit - 1][0]) if len(rows) > limit else None)

    def delete(self, ids: Sequence[str]) -> int:
        """Delete by id; return how many were there."""
        with self._writing, self._store.transaction() as transaction:
            return self._delete(transaction, transaction.keys_of(ids))

    def delete_where(self, filter: Filter) -> int:
        """Delete every document that `filter` matches; return how many there were."""
        condition = compile_conditions(filter)
        assert condition is not None, "a filter was given; this is a bug"
        with self._writing, self._store.transaction() as transaction:
            return self._delete(transaction, transaction.keys_where(condition))

    def vectors_of(self, ids: Sequence[str]) -> Vectors:
        """Return float32 [ids, dimension]: as stored, or the mean of a document's passages."""
        with self._store.snapshot() as snapshot:
            keys = self._keys_of(snapshot, ids)
            if self.passages is None:
                return snapshot.vectors(np.array(keys, dtype=np.int64))
            parts = [snapshot.vector_keys(np.array([key], dtype=np.int64)) for key in keys]
            vectors = snapshot.vectors(np.concatenate([np.empty(0, np.int64), *parts]))
        return mean_vectors(vectors, [len(part) for part in parts])

    def search(
        self,
        vectors: Vectors,
        *,
        k: int,
        languages: Collection[str] | None = None,
        filter: Filter | None = None,
        min_score: float | None = None,
        exclude: Sequence[Collection[str]] | None = None,
    ) -> list[list[Hit]]:
        """Return for each vector its nearest documents, best first."""
        check_count("k", k)
        queries = unit_vectors(vectors, dimension=self.dimension)
        lowest = lowest_score(min_score)
        excluded_ids = exclude if exclude is not None else [()] * len(queries)
        if len(excluded_ids) != len(queries):
            raise InputError(
                f"{len(excluded_ids)} lists of ids to leave out came with {len(queries)} vectors.",
                field="exclude",
            )
        condition = compile_conditions(filter, languages)
        # So many more are asked for as may be left out again: excluding costs no hits.
        depth = k + max(map(len, excluded_ids), default=0)
        with self._store.snapshot() as snapshot:
            scores, keys = self._neighbours(snapshot, queries, depth, condition)
            excluded = _excluded_keys(snapshot, excluded_ids)
            chosen = [
                [
                    (key, score)
                    for key, score in zip(row_keys, row_scores, strict=True)
                    if key != NO_KEY and score >= lowest and key not in left_out
                ][:k]
                for row_keys, row_scores, left_out in zip(
                    keys.tolist(), scores.tolist(), excluded, strict=True
                )
            ]
            owners = snapshot.owners({key for row in chosen for key, _ in row})
            documents = snapshot.documents(list(set(owners.values())))
        return [
            [_hit(documents[owners[key]], score, key - owners[key]) for key, score in row]
            for row in chosen
        ]

    def close(self, *, save: bool = True) -> None:
        """Save the index and let go of the files; waits for a write that is running."""
        with self._writing:
            if save and self._index.unsaved:
                self._save()
            with self._lock.exclusive():
                self._store.close()

    def _neighbours(
        self, snapshot: Snapshot, queries: Vectors, k: int, condition: Condition | None
    ) -> tuple[Vectors, Keys]:
        with self._lock.shared():
            if snapshot.begin() == self._index.generation:
                return self._nearest(snapshot, queries, k, condition)
        with self._lock.exclusive():
            self._index.catch_up(snapshot, snapshot.begin())
            return self._nearest(snapshot, queries, k, condition)

    def _nearest(
        self, snapshot: Snapshot, queries: Vectors, k: int, condition: Condition | None
    ) -> tuple[Vectors, Keys]:
        allowed = None if condition is None else snapshot.keys(condition)
        if self.passages is None:
            return self._index.search(queries, k, allowed=allowed)
        return nearest_documents(self._index, snapshot, queries, k, allowed)

    def _delete(self, transaction: Transaction, keys: Keys) -> int:
        if len(keys):
            self._commit(transaction, transaction.delete(keys))
        return len(keys)

    def _commit(self, transaction: Transaction, change: Change) -> None:
        with self._lock.exclusive():
            transaction.commit()
            # Another process may have written since: then the next search catches up with both.
            if self._index.generation == change.before:
                try:
                    self._index.follow(change)
                except Exception:
                    # The write is durable and must be acknowledged; the next search, which finds
                    # an index of no generation, builds it anew.
                    _log.exception("The index of corpus %s is built again.", self.name)
                    self._index = VectorIndex(self.dimension)
        if self._index.unsaved >= max(SAVE_ROWS, len(self._index) // 2):
            self._save()

    def _save(self) -> None:
        # `_writing` is held, so the index stays as it is; saving compacts it, hence the lock.
        with self._lock.exclusive():
            self._index.compact()
        try:
            with self._lock.shared():
                self._index.save(self._directory / INDEX_FILE)
        except StorageError as error:
            _log.warning("%s It is built again at the next start.", error)

    def _describe(self, snapshot: Snapshot) -> CorpusInfo:
        header = self._store.header
        languages = snapshot.languages()
        return CorpusInfo(
            name=self.name,
            model=header.model,
            space=header.space,
            dimension=header.dimension,
            documents=sum(languages.values()),
            languages=languages,
            index=self._index.kind,
            created=header.created,
            bytes=_bytes_in(self._directory),
            metadata=header.metadata,
            passages=header.passages,
        )

    def _keys_of(self, snapshot: Snapshot, ids: Sequence[str]) -> list[int]:
        snapshot.begin()
        keys = snapshot.keys_of(ids)
        for id in ids:
            if id not in keys:
                raise NotFoundError(
                    f"Corpus {self.name!r} has no document of this id.", field="ids", given=id
                )
        return [keys[id] for id in ids]


def _hit(document: Document, score: float, passage: int) -> Hit:
    return Hit(
        document.id,
        document.text,
        document.language,
        score,
        document.metadata,
        span_of(document, passage),
    )


def _excluded_keys(snapshot: Snapshot, ids: Sequence[Collection[str]]) -> list[set[int]]:
    known = snapshot.keys_of({id for row in ids for id in row})
    return [{known[id] for id in row if id in known} for row in ids]


def _bytes_in(directory: Path) -> int:
    total = 0
    for path in directory.iterdir():
        with suppress(FileNotFoundError):  # SQLite's log and our staging files come and go
            total += path.stat().st_size
    return total
