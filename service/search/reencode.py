"""Encode a corpus anew with another model, then switch to it in one step.

While it lasts, the old corpus is searched and written to as ever. What is written meanwhile is
taken along: a document that is written gets a new key, so the copy just goes on to the last key.
Only the last of it is copied while writes wait.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

from service.errors import ConflictError
from service.search.backend import CorporaBackend
from service.search.corpora import Corpora, Corpus
from service.search.incoming import Batch, Incoming
from service.search.indexing import Embed

PAGE = 512

Progress: TypeAlias = Callable[[int, int], None]
"""Told of documents done and of all; what it raises ends the work, and nothing has changed."""


@dataclass(frozen=True, slots=True)
class NewSpace:
    """What the corpus becomes.

    Attributes:
        model: The encoder's name.
        space: Of its vectors.
        dimension: Width that is kept of them.
        identity: Of the encoder's weights.
    """

    model: str
    space: str
    dimension: int
    identity: str | None = None


def reencode(
    corpora: CorporaBackend, name: str, new: NewSpace, embed: Embed, progress: Progress
) -> int:
    """Return how many documents were encoded; blocks until the corpus `name` is the new one.

    Raises:
        ConflictError: The engine that holds the corpora cannot do it.
        NotFoundError: There is no such corpus.
        StorageError: The disk refused; the corpus is as it was.
    """
    if not isinstance(corpora, Corpora):
        raise ConflictError(
            "Only the built-in engine encodes a corpus anew in its place.",
            remedy="Export the corpus and fill a new one from it.",
        )
    old = corpora.get(name)
    with corpora.successor(
        old,
        model=new.model,
        space=new.space,
        dimension=new.dimension,
        identity=new.identity,
    ) as successor:
        copy = _Copy(old, successor.corpus, embed, progress)
        copy.run()
        with old.held():  # writes wait from here on
            copy.run()
            copy.delete_what_is_gone()
            successor.switch()
    return copy.documents


class _Copy:
    """Takes the documents of one corpus over into another."""

    def __init__(self, old: Corpus, fresh: Corpus, embed: Embed, progress: Progress) -> None:
        self.documents = 0
        self._old = old
        self._fresh = fresh
        self._embed = embed
        self._progress = progress
        self._last_key = 0

    def run(self) -> None:
        """Copy all that was written since the last call."""
        total = self._old.info().documents
        while rows := self._old.written_after(self._last_key, limit=PAGE):
            items = [Incoming(replace(document, passages=())) for _, document in rows]
            batch = Batch(items, self._fresh.passages)
            vectors = batch.vectors(self._embed(batch.texts), dimension=self._fresh.dimension)
            self._fresh.upsert(batch.documents, vectors)
            self._last_key = rows[-1][0]
            self.documents += len(rows)
            self._progress(self.documents, max(total, self.documents))

    def delete_what_is_gone(self) -> None:
        """Delete what was deleted from the old one after it had been copied."""
        gone = self._fresh.ids() - self._old.ids()
        if gone:
            self._fresh.delete(sorted(gone))
