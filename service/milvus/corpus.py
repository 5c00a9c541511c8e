"""One corpus in one collection; see `service.search.backend.CorpusBackend` for its methods."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np

from service.errors import InputError
from service.inference.session import Vectors
from service.milvus.client import Row, engine_errors, listed, quoted
from service.milvus.expressions import compile_expression, has_field
from service.milvus.rows import FIELDS, document_of, hit_of, rows_of, search_parameters
from service.search.backend import CorpusInfo, Page, UpsertCounts
from service.search.checks import (
    check_count,
    check_fields,
    check_search,
    check_space,
    check_unique,
    check_whole,
    no_such_document,
    unit_vectors,
)
from service.search.document import Document, Hit, Metadata
from service.search.fields import FieldTypes, check_declared, check_filter
from service.search.filters import Filter
from service.search.policy import IndexPolicy
from service.search.snapshot import UNDETERMINED

AT_ONCE = 1_000
"""Ids in one expression."""

MAX_HITS = 16_384
"""Of one query: Milvus' limit."""


@dataclass(frozen=True, slots=True)
class MilvusHeader:
    """What a corpus is from its creation on."""

    name: str
    collection: str
    model: str
    space: str
    dimension: int
    metadata: Metadata
    created: datetime
    policy: IndexPolicy
    fields: FieldTypes | None = None
    identity: str | None = None  # of the model's weights; None where an earlier build made it


class MilvusCorpus:
    """The corpus that `header` describes.

    Args:
        client: Of the engine.
        header: As it was made.
    """

    passages = None

    def __init__(self, client: Any, header: MilvusHeader) -> None:  # noqa: ANN401 - no usable types
        self._client = client
        self._header = header

    @property
    def name(self) -> str:
        """Its name."""
        return self._header.name

    @property
    def model(self) -> str:
        """The encoder that made its vectors, by name."""
        return self._header.model

    @property
    def identity(self) -> str | None:
        """Of that encoder's weights; None where an earlier build made the corpus."""
        return self._header.identity

    @property
    def space(self) -> str:
        """The vector space its vectors lie in."""
        return self._header.space

    @property
    def dimension(self) -> int:
        """Width of its vectors."""
        return self._header.dimension

    @property
    def fields(self) -> FieldTypes | None:
        """The metadata fields that it declares; None where it takes any."""
        return self._header.fields

    def require_space(self, space: str, *, model: str) -> None:
        """Raise ConflictError unless vectors of `space`, made by `model`, fit this corpus."""
        header = self._header
        check_space(
            self.name, space=header.space, model=header.model, other_space=space, other_model=model
        )

    def info(self) -> CorpusInfo:
        """Describe it as it is now; its size on disk is the engine's own affair, and given as 0."""
        header, languages = self._header, self._languages()
        return CorpusInfo(
            name=header.name,
            model=header.model,
            space=header.space,
            dimension=header.dimension,
            documents=sum(languages.values()),
            languages=languages,
            index="flat" if header.policy.kind == "flat" else "ivf",
            created=header.created,
            bytes=0,
            metadata=header.metadata,
            policy=header.policy,
            fields=header.fields,
            recall=1.0 if header.policy.kind == "flat" else None,
            identity=header.identity,
        )

    def count(self) -> int:
        """Return how many documents it has, in one request."""
        return self._count('id != ""')

    def count_vectors(self) -> int:
        """Return how many vectors it has: one a document."""
        return self.count()

    def upsert(self, documents: Sequence[Document], vectors: Vectors) -> UpsertCounts:
        """Insert or replace `documents`, in one request."""
        unit = unit_vectors(vectors, dimension=self.dimension, rows=len(documents))
        check_unique(documents)
        check_whole(documents)
        for position, document in enumerate(documents):
            check_declared(document, self.fields, field=f"documents[{position}]")
        if not documents:
            return UpsertCounts(0, 0)
        rows = rows_of(documents, unit)
        updated = len(self._rows([document.id for document in documents], ["id"]))
        with engine_errors(self.name):
            self._client.upsert(self._header.collection, rows)
        return UpsertCounts(inserted=len(documents) - updated, updated=updated)

    def get_document(self, id: str) -> Document:
        """Return one document, or raise NotFoundError."""
        found = self.find([id])
        if id not in found:
            raise no_such_document(self.name, id, field="id")
        return found[id]

    def get_documents(self, ids: Sequence[str]) -> list[Document]:
        """Return the documents in the order of `ids`."""
        found = self._all_of(ids, FIELDS)
        return [document_of(row) for row in found]

    def find(self, ids: Sequence[str]) -> dict[str, Document]:
        """Return id -> document for those `ids` that are there."""
        return {id: document_of(row) for id, row in self._rows(ids, FIELDS).items()}

    def page(
        self,
        cursor: str | None = None,
        *,
        limit: int = 100,
        language: str | None = None,
        filter: Filter | None = None,
    ) -> Page:
        """Return up to `limit` documents after `cursor`, by id: the order that the engine keeps."""
        check_count("limit", limit)
        check_filter(filter, self.fields)
        condition = compile_expression(filter, None if language is None else [language])
        last = None if cursor is None else _id_of(cursor)
        documents: list[Document] = []
        while batch := self._after(last, condition, limit + 1 - len(documents)):
            documents += [document_of(row) for row in batch]
            last = documents[-1].id
        if not documents and cursor is None:
            self._require_fields(filter)
        more = len(documents) > limit
        return Page(tuple(documents[:limit]), _cursor_of(documents[limit - 1].id) if more else None)

    def delete(self, ids: Sequence[str]) -> int:
        """Delete by id; return how many were there."""
        there = sorted(self._rows(ids, ["id"]))
        with engine_errors(self.name):
            for start in range(0, len(there), AT_ONCE):
                part = there[start : start + AT_ONCE]
                self._client.delete(self._header.collection, filter=f"id in {listed(part)}")
        return len(there)

    def delete_where(self, filter: Filter) -> int:
        """Delete every document that `filter` matches; return how many there were."""
        check_filter(filter, self.fields)
        expression = compile_expression(filter)
        assert expression is not None, "a filter was given; this is a bug"
        self._require_fields(filter)
        count = self._count(expression)
        if count:
            with engine_errors(self.name):
                self._client.delete(self._header.collection, filter=expression)
        return count

    def vectors_of(self, ids: Sequence[str]) -> Vectors:
        """Return float32 [ids, dimension], as stored."""
        found = self._all_of(ids, ["id", "vector"])
        vectors = np.array([row["vector"] for row in found], dtype=np.float32)
        return vectors.reshape(len(found), self.dimension)

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
        if asked.depth > MAX_HITS:
            raise InputError(
                f"At most {MAX_HITS} hits a query, those left out included, on this vector engine.",
                field="k",
                given=asked.depth,
            )
        expression = compile_expression(filter, languages)
        if not len(asked.queries):
            return []
        with engine_errors(self.name):
            answers = self._client.search(
                self._header.collection,
                data=list(asked.queries),
                limit=asked.depth,
                filter=expression or "",
                output_fields=FIELDS,
                search_params=search_parameters(self._header.policy),
                consistency_level="Strong",
            )
        if not any(answers):
            self._require_fields(filter)
        hits = [[hit_of(found["entity"], found["distance"]) for found in row] for row in answers]
        return [
            [hit for hit in row if hit.score >= asked.lowest and hit.id not in left_out][:k]
            for row, left_out in zip(hits, asked.excluded, strict=True)
        ]

    def _require_fields(self, filter: Filter | None) -> None:
        if filter is None or self.fields is not None:
            return
        if self._query('id != ""', ["id"], limit=1):
            check_fields(
                self.name, filter, lambda name: bool(self._query(has_field(name), ["id"], limit=1))
            )

    def _after(self, last: str | None, condition: str | None, most: int) -> Sequence[Row]:
        """Return up to `most` documents by id from `last` on; there may be more even if fewer."""
        if not most:
            return []
        after = None if last is None else f"id > {quoted(last)}"
        with engine_errors(self.name):
            # A plain query may leave rows out of the middle; the iterator goes by primary key. It
            # is asked for one batch, as it does not escape the id that the next begins after.
            iterator = self._client.query_iterator(
                self._header.collection,
                filter=" and ".join(part for part in (after, condition) if part),
                batch_size=min(most, AT_ONCE),
                output_fields=FIELDS,
            )
            rows: Sequence[Row] = iterator.next()
            iterator.close()
        return rows

    def _rows(self, ids: Sequence[str], fields: list[str]) -> dict[str, Row]:
        found: dict[str, Row] = {}
        unique = list(dict.fromkeys(ids))
        for start in range(0, len(unique), AT_ONCE):
            part = unique[start : start + AT_ONCE]
            for row in self._query(f"id in {listed(part)}", fields):
                found[row["id"]] = row
        return found

    def _all_of(self, ids: Sequence[str], fields: list[str]) -> list[Row]:
        found = self._rows(ids, fields)
        for id in ids:
            if id not in found:
                raise no_such_document(self.name, id, field="ids")
        return [found[id] for id in ids]

    def _query(self, expression: str, fields: list[str], **limit: int) -> Sequence[Row]:
        with engine_errors(self.name):
            rows: Sequence[Row] = self._client.query(
                self._header.collection,
                filter=expression,
                output_fields=fields,
                consistency_level="Strong",
                **limit,
            )
            return rows

    def _count(self, expression: str) -> int:
        (row,) = self._query(expression, ["count(*)"])
        return int(row["count(*)"])

    def _languages(self) -> dict[str, int]:
        # The engine does not group: one language is asked for that was not seen, then counted.
        counts: dict[str, int] = {}
        while rows := self._query(f"language not in {listed(counts)}", ["language"], limit=1):
            language = rows[0]["language"]
            counts[language] = self._count(f"language == {quoted(language)}")
        return {language or UNDETERMINED: counts[language] for language in sorted(counts)}


def _cursor_of(id: str) -> str:
    return base64.urlsafe_b64encode(id.encode()).decode()


def _id_of(cursor: str) -> str:
    try:
        return base64.b64decode(cursor, altchars=b"-_", validate=True).decode()
    except (binascii.Error, UnicodeError, ValueError):
        raise InputError(
            "This is no cursor of an earlier page.",
            field="cursor",
            given=cursor,
            remedy="Leave it out to begin at the first page.",
        ) from None
