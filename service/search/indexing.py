"""Fill a corpus from a long run of documents: in batches, resumable, storing while encoding."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import islice
from typing import TypeAlias

import numpy as np

from service.inference.session import Vectors
from service.search.backend import CorpusBackend, UpsertCounts
from service.search.document import Document
from service.search.incoming import Batch, Incoming
from service.search.snapshot import as_json

BATCH_DOCUMENTS = 1024

Embed: TypeAlias = Callable[[Sequence[str]], Vectors]
"""Texts -> float32 [texts, at least the corpus' dimension]."""


@dataclass(frozen=True, slots=True)
class IndexCounts:
    """Documents so far."""

    inserted: int = 0
    updated: int = 0
    unchanged: int = 0

    @property
    def total(self) -> int:
        """All of them."""
        return self.inserted + self.updated + self.unchanged


def index_documents(
    corpus: CorpusBackend,
    items: Iterable[Incoming],
    embed: Embed,
    *,
    overwrite: bool = False,
    batch_documents: int = BATCH_DOCUMENTS,
) -> Iterator[IndexCounts]:
    """Upsert `items`; yield what is stored after each batch.

    A document that is there already, word for word, is neither encoded nor written again. So a
    run that broke off is resumed by running it anew, whatever its source, and a source that has
    grown costs only what is new.

    Args:
        corpus: Where they go.
        items: Of any number; of those with one id the last wins.
        embed: Makes the vectors of those that bring none.
        overwrite: Write those that are there already, too.
        batch_documents: Of one commit.
    """
    counts = IndexCounts()
    with ThreadPoolExecutor(1, thread_name_prefix="store") as storing:
        pending: Future[UpsertCounts] | None = None
        being_stored: set[str] = set()
        for chunk in _chunks(items, batch_documents):
            fresh = chunk if overwrite else _changed(corpus, chunk, being_stored)
            counts = replace(counts, unchanged=counts.unchanged + len(chunk) - len(fresh))
            batch = Batch(fresh, corpus.passages)
            encoded = (
                embed(batch.texts)
                if batch.texts
                else np.empty((0, corpus.dimension), dtype=np.float32)
            )
            vectors = batch.vectors(encoded, dimension=corpus.dimension)
            if pending is not None:
                counts, pending = _after(counts, pending), None
            if fresh:
                being_stored = {item.document.id for item in fresh}
                pending = storing.submit(corpus.upsert, batch.documents, vectors)
            yield counts
        if pending is not None:
            yield _after(counts, pending)


def _after(counts: IndexCounts, pending: Future[UpsertCounts]) -> IndexCounts:
    stored = pending.result()
    return replace(
        counts,
        inserted=counts.inserted + stored.inserted,
        updated=counts.updated + stored.updated,
    )


def _chunks(items: Iterable[Incoming], size: int) -> Iterator[list[Incoming]]:
    """Give `items` in lists in which no id stands twice."""
    iterator = iter(items)
    while chunk := {item.document.id: item for item in islice(iterator, size)}:
        yield list(chunk.values())


def _changed(
    corpus: CorpusBackend, items: Sequence[Incoming], being_stored: Collection[str]
) -> list[Incoming]:
    # What is said of a document that is being stored may be about the one it replaces.
    asked = [item.document.id for item in items if item.document.id not in being_stored]
    there = corpus.find(asked)
    return [item for item in items if not _same(there.get(item.document.id), item.document)]


def _same(stored: Document | None, document: Document) -> bool:
    return (
        stored is not None
        and (stored.text, stored.language) == (document.text, document.language)
        and as_json(stored.metadata) == as_json(document.metadata)
    )
