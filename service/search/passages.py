"""Long documents as passages: each has a vector of its own, and a hit says which one matched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from service.errors import InputError
from service.inference.session import Vectors
from service.inference.vectors import normalise
from service.search.document import Document, Span
from service.text.windows import split_passages

MAX_PASSAGE_WORDS = 4096
MAX_OVERLAP_SENTENCES = 16


@dataclass(frozen=True, slots=True)
class PassagePolicy:
    """How the documents of a corpus are split.

    Args:
        words: Of the longest passage; shorter documents stay whole.
        overlap_sentences: With how many sentences of the one before a passage begins.

    Raises:
        InputError: A number out of its range.
    """

    words: int = 128
    overlap_sentences: int = 1

    def __post_init__(self) -> None:
        _check_range("passages.words", self.words, 8, MAX_PASSAGE_WORDS)
        _check_range("passages.overlap_sentences", self.overlap_sentences, 0, MAX_OVERLAP_SENTENCES)

    def split(self, document: Document) -> Document:
        """Return `document` with its passages; as it was where one passage holds it."""
        passages = split_passages(
            document.text,
            language=document.language,
            words=self.words,
            overlap_sentences=self.overlap_sentences,
        )
        if len(passages) < 2:
            return document
        return replace(document, passages=tuple((part.start, part.end) for part in passages))


def passage_texts(documents: Sequence[Document]) -> list[str]:
    """Return what is to be encoded, in order: a document's passages, or the whole of it."""
    return [
        document.text[start:end]
        for document in documents
        for start, end in document.passages or ((0, len(document.text)),)
    ]


def vector_counts(documents: Sequence[Document]) -> npt.NDArray[np.int64]:
    """Return int64 [documents]: how many vectors each has."""
    return np.fromiter((max(len(d.passages), 1) for d in documents), np.int64, len(documents))


def mean_vectors(vectors: Vectors, counts: Sequence[int]) -> Vectors:
    """Return one vector a document: the mean of its passages', scaled to length 1.

    Args:
        vectors: float32 [sum of counts, dimension].
        counts: Vectors of each document, at least 1.
    """
    if all(count == 1 for count in counts):
        return vectors
    starts = np.cumsum([0, *counts[:-1]])
    return normalise(np.add.reduceat(vectors, starts, axis=0).astype(np.float32))


def span_of(document: Document, number: int) -> Span | None:
    """Return the place of a document's passage `number`; None where it is whole."""
    return document.passages[number] if document.passages else None


def _check_range(field: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise InputError(f"A number from {least} to {most} is due.", field=field, given=value)
