"""What a corpus must be able to do, whichever engine holds it.

The built-in engine is `service.search.corpora`; an engine on several machines keeps the same
contract, and the HTTP routes know no more than this.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from service.inference.session import Vectors
from service.search.document import Document, Hit, Metadata
from service.search.fields import FieldTypes
from service.search.filters import Filter
from service.search.passages import PassagePolicy
from service.search.policy import IndexPolicy


@dataclass(frozen=True, slots=True)
class CorpusInfo:
    """A corpus, described."""

    name: str
    model: str  # the encoder that made its vectors, by name
    space: str  # any encoder of this vector space may query it
    dimension: int
    documents: int
    languages: Mapping[str, int]  # language -> documents; "und" where it is not known
    index: str  # kind of the vector index as it is now: flat or ivf, or the engine's own name
    created: datetime  # UTC
    bytes: int  # on disk, index included
    metadata: Metadata
    passages: PassagePolicy | None = None  # how its documents are split
    policy: IndexPolicy = field(default_factory=IndexPolicy)  # which index is wanted
    fields: FieldTypes | None = None  # declared metadata fields; None where any are taken
    recall: float | None = 1.0  # share of the true ten nearest it finds; None where not measured
    identity: str | None = None  # of the model's weights; None where an earlier build made it


@dataclass(frozen=True, slots=True)
class UpsertCounts:
    """What an upsert did; both are of documents."""

    inserted: int
    updated: int


@dataclass(frozen=True, slots=True)
class Page:
    """Documents in the order in which they were last written, and where to go on."""

    documents: tuple[Document, ...]
    next_cursor: str | None  # None after the last page


class CorpusBackend(Protocol):
    """One corpus. Every call blocks until it is done and may come from any thread.

    What an upsert or delete returned from is durable, and visible to every later search.
    """

    @property
    def name(self) -> str:
        """Its name."""
        ...

    @property
    def model(self) -> str:
        """The encoder that made its vectors, by name."""
        ...

    @property
    def identity(self) -> str | None:
        """Of that encoder's weights; None where an earlier build made the corpus."""
        ...

    @property
    def space(self) -> str:
        """The vector space its vectors lie in."""
        ...

    @property
    def dimension(self) -> int:
        """Width of its vectors."""
        ...

    @property
    def passages(self) -> PassagePolicy | None:
        """How its documents are split; None where they are searched as a whole."""
        ...

    @property
    def fields(self) -> FieldTypes | None:
        """The metadata fields that it declares; None where it takes any."""
        ...

    def require_space(self, space: str, *, model: str) -> None:
        """Raise ConflictError unless vectors of `space`, made by `model`, fit this corpus."""
        ...

    def info(self) -> CorpusInfo:
        """Describe it as it is now."""
        ...

    def count(self) -> int:
        """Return how many documents it has; cheaper than `info` where an engine must be asked."""
        ...

    def count_vectors(self) -> int:
        """Return how many vectors it has: a document in passages has several."""
        ...

    def upsert(self, documents: Sequence[Document], vectors: Vectors) -> UpsertCounts:
        """Insert `documents`, or replace those whose id is there already, all or none.

        Args:
            documents: No id twice; with passages only where the corpus has a policy.
            vectors: float32 [passages, dimension], one for each passage of each document, or for
                the whole of it; of any length, stored scaled to length 1.

        Raises:
            InputError: An id twice, metadata that are not as declared, vectors of another width,
                or numbers that are not finite.
            StorageError: The disk or the database refused; nothing is written.
        """
        ...

    def get_document(self, id: str) -> Document:
        """Return one document, or raise NotFoundError."""
        ...

    def get_documents(self, ids: Sequence[str]) -> list[Document]:
        """Return the documents in the order of `ids`; NotFoundError names the first missing one."""
        ...

    def find(self, ids: Sequence[str]) -> Mapping[str, Document]:
        """Return id -> document for those `ids` that are there."""
        ...

    def page(
        self,
        cursor: str | None = None,
        *,
        limit: int = 100,
        language: str | None = None,
        filter: Filter | None = None,
    ) -> Page:
        """Return up to `limit` documents after `cursor`.

        A document that is replaced while somebody pages moves to the end, so it may be seen
        twice; none is missed.

        Raises:
            InputError: A cursor that no page gave, a limit below 1, a filter not understood.
        """
        ...

    def delete(self, ids: Sequence[str]) -> int:
        """Delete by id; return how many were there."""
        ...

    def delete_where(self, filter: Filter) -> int:
        """Delete every document that `filter` matches; return how many there were."""
        ...

    def vectors_of(self, ids: Sequence[str]) -> Vectors:
        """Return float32 [ids, dimension]; NotFoundError names the first missing one.

        They are as stored; a document in passages has their mean, scaled to length 1.
        """
        ...

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
        """Return for each vector its nearest documents, best first.

        Args:
            vectors: float32 [queries, dimension], of any length.
            k: Hits wanted; fewer come back only where no more documents pass the conditions.
            languages: Only documents in one of these.
            filter: Only documents it matches.
            min_score: Only hits of at least this cosine.
            exclude: For each vector, ids that must not be among its hits (a query document's own).

        Raises:
            InputError: k below 1, vectors of another width or not finite, a filter not understood.
        """
        ...


class CorporaBackend(Protocol):
    """All corpora of one data directory or engine."""

    def create(
        self,
        name: str,
        *,
        model: str,
        space: str,
        dimension: int,
        metadata: Metadata | None = None,
        passages: PassagePolicy | None = None,
        index: IndexPolicy | None = None,
        fields: FieldTypes | None = None,
        identity: str | None = None,
    ) -> CorpusBackend:
        """Make an empty corpus, or raise ConflictError where one of that name is there."""
        ...

    def get(self, name: str) -> CorpusBackend:
        """Return a corpus, or raise NotFoundError; StorageError where it could not be opened."""
        ...

    def list(self) -> Sequence[CorpusBackend]:
        """Return every corpus that could be opened, by name."""
        ...

    def drop(self, name: str) -> None:
        """Delete a corpus and all that is in it, or raise NotFoundError."""
        ...

    def close(self) -> None:
        """Let go of all files; indexes are saved first, so that the next start is quick."""
        ...
