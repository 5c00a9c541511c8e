"""One corpus: a store, and an index that never shows anything else than the store.

`service.search.live_index` says how searches and writes keep out of each other's way.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import numpy as np

from service.inference.session import Vectors
from service.search.backend import CorpusInfo, Page, UpsertCounts
from service.search.checks import (
    check_count,
    check_fields,
    check_search,
    check_space,
    check_unique,
    check_whole,
    key_after,
    no_such_document,
    unit_vectors,
)
from service.search.database import in_turn
from service.search.document import Document, Hit
from service.search.fields import FieldTypes, check_declared, check_filter
from service.search.filters import Condition, Filter, compile_conditions
from service.search.index import NO_KEY, VectorIndex
from service.search.live_index import LiveIndex
from service.search.nearest import nearest_documents
from service.search.passages import PassagePolicy, mean_vectors, span_of, vector_counts
from service.search.policy import IndexPolicy, read_policy
from service.search.selections import Selections
from service.search.snapshot import Keys, Snapshot
from service.search.store import Header, Store, Transaction

STORE_FILE = "documents.sqlite3"
INDEX_FILE = "index.faiss"
POLICY_FILE = "index.json"


class Corpus:
    """The corpus in `directory`; see `service.search.backend.CorpusBackend` for its methods.

    Args:
        directory: Made by `Corpora.create`; its name is the corpus' name.
        gpu: Whether a GPU searches what is compared exactly.

    Raises:
        StorageError: Its database cannot be opened.
    """

    def __init__(self, directory: Path, *, gpu: bool = False) -> None:
        self._directory = directory
        self._store = Store(directory / STORE_FILE)
        self._selections = Selections()
        self._info: tuple[int, CorpusInfo] | None = None
        try:
            policy = read_policy(directory / POLICY_FILE)
            self._live = LiveIndex(self._store, directory / INDEX_FILE, policy, gpu=gpu)
        except BaseException:
            self._store.close()
            raise

    @property
    def name(self) -> str:
        """Its name."""
        return self._directory.name

    @property
    def model(self) -> str:
        """The encoder that made its vectors, by name."""
        return self._store.header.model

    @property
    def identity(self) -> str | None:
        """Of that encoder's weights; None where an earlier build made the corpus."""
        return self._store.header.identity

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

    @property
    def fields(self) -> FieldTypes | None:
        """The metadata fields that it declares; None where it takes any."""
        return self._store.header.fields

    @property
    def policy(self) -> IndexPolicy:
        """How it is indexed."""
        return self._index.policy

    @property
    def in_place(self) -> bool:
        """Whether its folder is still its own: another process may have put another there."""
        return self._store.in_place

    @property
    def _index(self) -> VectorIndex:
        return self._live.index

    def require_space(self, space: str, *, model: str) -> None:
        """Raise ConflictError unless vectors of `space`, made by `model`, fit this corpus."""
        header = self._store.header
        check_space(
            self.name, space=header.space, model=header.model, other_space=space, other_model=model
        )

    def info(self) -> CorpusInfo:
        """Describe it as it is now."""
        with self._store.snapshot() as snapshot:
            generation = snapshot.begin()
            known = self._info
            if known is None or known[0] != generation:
                self._info = known = generation, self._describe(snapshot)
        # Clusters are built without a write.
        return replace(known[1], index=self._index.kind, recall=self._index.recall)

    def count(self) -> int:
        """Return how many documents it has."""
        return self.info().documents

    def count_vectors(self) -> int:
        """Return how many vectors it has."""
        with self._store.snapshot() as snapshot, self._live.current(snapshot) as index:
            return len(index)

    def upsert(self, documents: Sequence[Document], vectors: Vectors) -> UpsertCounts:
        """Insert or replace `documents`, all or none."""
        rows = int(vector_counts(documents).sum())
        unit = unit_vectors(vectors, dimension=self.dimension, rows=rows)
        check_unique(documents)
        for position, document in enumerate(documents if self.fields is not None else ()):
            check_declared(document, self.fields, field=f"documents[{position}]")
        if self.passages is None:
            check_whole(documents)
        if not documents:
            return UpsertCounts(0, 0)
        with self._writing() as transaction:
            change = transaction.upsert(documents, unit)
            self._live.commit(transaction, change)
        updated = change.replaced
        return UpsertCounts(inserted=len(documents) - updated, updated=updated)

    def get_document(self, id: str) -> Document:
        """Return one document, or raise NotFoundError."""
        found = self.find([id])
        if id not in found:
            raise no_such_document(self.name, id, field="id")
        return found[id]

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
        check_filter(filter, self.fields)
        condition = compile_conditions(filter, None if language is None else [language])
        with self._store.snapshot() as snapshot:
            snapshot.begin()
            rows = snapshot.page(after=key_after(cursor), limit=limit + 1, condition=condition)
            if not rows and cursor is None:
                self._require_fields(snapshot, filter)
        documents = tuple(document for _, document in rows[:limit])
        return Page(documents, str(rows[limit - 1][0]) if len(rows) > limit else None)

    def delete(self, ids: Sequence[str]) -> int:
        """Delete by id; return how many were there."""
        with self._writing() as transaction:
            return self._delete(transaction, transaction.keys_of(ids))

    def delete_where(self, filter: Filter) -> int:
        """Delete every document that `filter` matches; return how many there were."""
        check_filter(filter, self.fields)
        condition = compile_conditions(filter)
        assert condition is not None, "a filter was given; this is a bug"
        # Before anything is deleted: {"not": {"tpoic": "law"}} would match every document.
        with self._store.snapshot() as snapshot:
            self._require_fields(snapshot, filter)
        with self._writing() as transaction:
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
        asked = check_search(
            vectors, dimension=self.dimension, k=k, min_score=min_score, exclude=exclude
        )
        check_filter(filter, self.fields)
        condition = compile_conditions(filter, languages)
        with self._store.snapshot() as snapshot:
            scores, keys = self._neighbours(snapshot, asked.queries, asked.depth, condition)
            if not keys.shape[1]:
                self._require_fields(snapshot, filter)
            owners = snapshot.owners(key for key in np.unique(keys).tolist() if key != NO_KEY)
            excluded = _excluded_keys(snapshot, asked.excluded)
            chosen = [
                [
                    (key, score)
                    for key, score in zip(row_keys, row_scores, strict=True)
                    if key != NO_KEY and score >= asked.lowest and owners[key] not in left_out
                ][:k]
                for row_keys, row_scores, left_out in zip(
                    keys.tolist(), scores.tolist(), excluded, strict=True
                )
            ]
            documents = snapshot.documents(list({owners[key] for row in chosen for key, _ in row}))
        return [
            [_hit(documents[owners[key]], score, key - owners[key]) for key, score in row]
            for row in chosen
        ]

    def header_for(self, model: str, space: str, dimension: int, identity: str | None) -> Header:
        """Return the header of a corpus that holds the same as another model encodes it."""
        header = self._store.header
        return replace(header, model=model, space=space, dimension=dimension, identity=identity)

    def policy_files(self) -> list[Path]:
        """Return the files that say how it is indexed."""
        return [path for path in (self._directory / POLICY_FILE,) if path.exists()]

    @contextmanager
    def held(self) -> Iterator[None]:
        """Have writers wait, those of other processes too; searches go on."""
        with self._live.writing, self._store.held():
            yield

    def retire(self, folder: Path) -> None:
        """Refuse writes from now on; what reads it may go on doing so until it is closed.

        Args:
            folder: Where its own was moved to.
        """
        self._live.retire()
        self._store.retire(folder / STORE_FILE)

    def ids(self) -> set[str]:
        """Return the ids of all documents."""
        with self._store.snapshot() as snapshot:
            return snapshot.ids()

    def written_after(self, key: int, *, limit: int) -> list[tuple[int, Document]]:
        """Return up to `limit` documents with their keys, which are greater than `key`."""
        with self._store.snapshot() as snapshot:
            snapshot.begin()
            return snapshot.page(after=key, limit=limit)

    def close(self, *, save: bool = True) -> None:
        """Save the index and let go of the files; waits for a write that is running."""
        self._live.close(save=save)

    def settle(self) -> None:
        """Wait until its index is as its policy wants it, and saved where that is due."""
        self._live.settle()

    @contextmanager
    def _writing(self) -> Iterator[Transaction]:
        with (
            in_turn(self._live.writing, self._store.path) as seconds_left,
            self._store.transaction(seconds_left) as transaction,
        ):
            yield transaction

    def _neighbours(
        self, snapshot: Snapshot, queries: Vectors, k: int, condition: Condition | None
    ) -> tuple[Vectors, Keys]:
        with self._live.current(snapshot) as index:
            selected = (
                None if condition is None else self._selections.mask(index, snapshot, condition)
            )
            if self.passages is None:
                return index.search(queries, k, selected=selected, stored=snapshot.vectors)
            return nearest_documents(index, snapshot, queries, k, selected)

    def _delete(self, transaction: Transaction, keys: Keys) -> int:
        if len(keys):
            self._live.commit(transaction, transaction.delete(keys))
        return len(keys)

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
            policy=self.policy,
            created=header.created,
            bytes=_bytes_in(self._directory),
            metadata=header.metadata,
            passages=header.passages,
            fields=header.fields,
            identity=header.identity,
        )

    def _require_fields(self, snapshot: Snapshot, filter: Filter | None) -> None:
        """Raise InputError where the filter has a field that no document has, in a corpus of any.

        What a corpus declares is a field, whether a document has it or not.
        Where documents were found nobody needs to know; to look costs a walk over all of them.
        """
        if filter is None or self.fields is not None or not snapshot.has_documents():
            return
        check_fields(self.name, filter, snapshot.has_field)

    def _keys_of(self, snapshot: Snapshot, ids: Sequence[str]) -> list[int]:
        snapshot.begin()
        keys = snapshot.keys_of(ids)
        for id in ids:
            if id not in keys:
                raise no_such_document(self.name, id, field="ids")
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
    """Return for each query the keys of the documents of its `ids`."""
    if not any(ids):
        return [set()] * len(ids)
    known = snapshot.keys_of({id for row in ids for id in row})
    return [{known[id] for id in row if id in known} for row in ids]


def _bytes_in(directory: Path) -> int:
    total = 0
    with suppress(FileNotFoundError):  # the corpus was dropped while it is described
        for path in directory.iterdir():
            with suppress(FileNotFoundError):  # SQLite's log and our staging files come and go
                total += path.stat().st_size
    return total
