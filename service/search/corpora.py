"""All corpora of a data directory."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from service.inference.session import Vectors
from service.search.backend import CorpusInfo, Page, UpsertCounts
from service.search.document import Document, Hit, Metadata
from service.search.filters import Filter

__all__ = ["Corpora", "Corpus"]


class Corpus:
    """Being written: every method as in `service.search.backend.CorpusBackend`."""

    @property
    def name(self) -> str:
        raise NotImplementedError

    @property
    def space(self) -> str:
        raise NotImplementedError

    @property
    def dimension(self) -> int:
        raise NotImplementedError

    def require_space(self, space: str, *, model: str) -> None:
        raise NotImplementedError

    def info(self) -> CorpusInfo:
        raise NotImplementedError

    def upsert(self, documents: Sequence[Document], vectors: Vectors) -> UpsertCounts:
        raise NotImplementedError

    def get_document(self, id: str) -> Document:
        raise NotImplementedError

    def get_documents(self, ids: Sequence[str]) -> list[Document]:
        raise NotImplementedError

    def page(
        self,
        cursor: str | None = None,
        *,
        limit: int = 100,
        language: str | None = None,
        filter: Filter | None = None,
    ) -> Page:
        raise NotImplementedError

    def delete(self, ids: Sequence[str]) -> int:
        raise NotImplementedError

    def delete_where(self, filter: Filter) -> int:
        raise NotImplementedError

    def vectors_of(self, ids: Sequence[str]) -> Vectors:
        raise NotImplementedError

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
        raise NotImplementedError


class Corpora:
    """Every corpus below `directory`, one folder each.

    Args:
        directory: Made if it is not there. A corpus that cannot be opened is in `damaged`, and
            does not keep the others from opening.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.damaged: Mapping[str, str] = {}

    def create(
        self,
        name: str,
        *,
        model: str,
        space: str,
        dimension: int,
        metadata: Metadata | None = None,
    ) -> Corpus:
        raise NotImplementedError

    def get(self, name: str) -> Corpus:
        raise NotImplementedError

    def list(self) -> tuple[Corpus, ...]:
        raise NotImplementedError

    def drop(self, name: str) -> None:
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError
