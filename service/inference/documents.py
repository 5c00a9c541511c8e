"""The vector of a document: of its sentences or windows, pooled.

Yu, Li & Oguz 2018 (section 4.4, Table 5) compare sentences with windows of words and the mean with
the maximum; the mean over sentences wins. The pieces' vectors have length 1 before they are pooled,
so that a piece counts the same whatever the encoder's own lengths. Nothing is cut: a piece that is
longer than the encoder takes is halved until it fits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from pydantic import Field

from service.bundle.manifest import Part
from service.errors import TooLargeError
from service.inference.encoder import Encoder
from service.inference.session import Vectors
from service.inference.vectors import finish, normalise
from service.text.sentences import Passage, split_sentences
from service.text.windows import halve, split_windows

Splitting = Literal["sentences", "windows"]
DocumentPooling = Literal["mean", "max"]
Encode: TypeAlias = Callable[[Sequence[str]], Vectors]
"""Texts to float32 [texts, D]."""

_SAFE_SHARE = 4
"""A piece with less than a quarter as many characters as the encoder takes tokens always fits."""


class DocumentOptions(Part):
    """How a document becomes one vector."""

    splitting: Splitting = "sentences"
    pooling: DocumentPooling = "mean"
    window_words: int = Field(default=128, ge=1)
    stride_words: int = Field(default=64, ge=1)


@dataclass(frozen=True, slots=True)
class SplitDocuments:
    """The pieces of some documents.

    Attributes:
        pieces: Of all documents, in order; each document has one at least.
        counts: How many pieces each document has.
    """

    pieces: list[Passage]
    counts: list[int]

    @property
    def texts(self) -> list[str]:
        """The pieces' texts."""
        return [piece.text for piece in self.pieces]


def split_documents(
    texts: Sequence[str],
    options: DocumentOptions,
    *,
    encoder: Encoder,
    language: str | None = None,
    prefix: str | None = None,
    most: int | None = None,
    check: Callable[[], None] = lambda: None,
) -> SplitDocuments:
    """Split documents into pieces that `encoder` takes whole.

    Args:
        texts: The documents.
        options: Sentences or windows.
        encoder: Whose tokens count.
        language: Of all documents, for the abbreviations of its sentences.
        prefix: What is put before each piece when it is encoded, and takes room there; the default
            prompt where None.
        most: Pieces that all documents together may have; any number where None.
        check: Called before each piece is measured; what it raises ends the work.

    Raises:
        InputError: A stride that is wider than its window.
        TooLargeError: More than `most` pieces.
    """
    room = _Room(encoder, language, encoder.prompt_prefix(None) if prefix is None else prefix)
    pieces: list[Passage] = []
    counts: list[int] = []
    for text in texts:
        before = len(pieces)
        for piece in _fit(_split(text, options, language), room, check):
            pieces.append(piece)
            if most is not None and len(pieces) > most:
                raise TooLargeError(
                    f"The documents have more than {most} pieces, which is what is allowed.",
                    field="inputs",
                    remedy="Split them over several requests, or make strides wider.",
                )
        counts.append(len(pieces) - before)
    return SplitDocuments(pieces, counts)


def pool_pieces(vectors: Vectors, counts: Sequence[int], pooling: DocumentPooling) -> Vectors:
    """Return float32 [documents, D] from the vectors of their pieces, not normalised.

    Args:
        vectors: Of all pieces, document after document, [pieces, D].
        counts: Pieces of each document, each at least 1.
        pooling: `mean`, or the greatest of each number.
    """
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.int64)
    unit = normalise(vectors)
    if pooling == "max":
        greatest: Vectors = np.maximum.reduceat(unit, starts, axis=0)
        return greatest
    means: Vectors = np.add.reduceat(unit, starts, axis=0)
    means /= np.array(counts, dtype=np.float32)[:, None]
    return means


def encode_documents(
    encoder: Encoder,
    texts: Sequence[str],
    options: DocumentOptions,
    *,
    language: str | None = None,
    encode: Encode | None = None,
) -> Vectors:
    """Return the documents' unit vectors, float32 [documents, D]; blocks.

    Args:
        encoder: Whose tokens count.
        texts: The documents.
        options: How they are split and pooled.
        language: Of all documents.
        encode: Makes the pieces' vectors; `encoder`, in this thread, where None.
    """
    split = split_documents(texts, options, encoder=encoder, language=language)
    if encode is None:
        vectors = encoder.encode(split.texts, language=language, normalize=True)
    else:
        vectors = encode(split.texts)
    pooled = pool_pieces(vectors, split.counts, options.pooling)
    return finish(pooled, dimensions=None, normalised=True)


def _split(text: str, options: DocumentOptions, language: str | None) -> Iterator[Passage]:
    """Give the pieces of `text`, of which there is one at least, as they are asked for."""
    pieces: Iterable[Passage]
    if options.splitting == "sentences":
        pieces = split_sentences(text, language=language)
    else:
        pieces = split_windows(text, words=options.window_words, stride=options.stride_words)
    found = False
    for piece in pieces:
        found = True
        yield piece
    if not found:
        yield Passage(text, 0, len(text))


class _Room:
    """What the encoder takes whole, with `prefix` before it."""

    def __init__(self, encoder: Encoder, language: str | None, prefix: str) -> None:
        self._encoder = encoder
        self._language = language
        self._limit = encoder.manifest.max_tokens
        self._prefix = prefix
        if prefix and self._tokens("") >= self._limit:
            self._prefix = ""  # it leaves no room, however short the pieces are

    def takes(self, text: str) -> bool:
        least = (len(self._prefix) + len(text)) * _SAFE_SHARE
        return least < self._limit or self._tokens(text) <= self._limit

    def _tokens(self, text: str) -> int:
        tower, _ = self._encoder.tower_for(text, self._language)
        tokenized = tower.tokenizer.encode([self._prefix + text], max_tokens=self._limit)
        return tokenized.full_lengths[0]


def _fit(pieces: Iterable[Passage], room: _Room, check: Callable[[], None]) -> Iterator[Passage]:
    """Give `pieces`, those for which there is no room halved until there is."""
    for whole in pieces:
        waiting = [whole]
        while waiting:
            check()
            piece = waiting.pop()
            if room.takes(piece.text):
                yield piece
                continue
            halves = halve(piece)
            if len(halves) < 2:  # one character that is more tokens than the encoder takes
                yield piece
            else:
                waiting += halves[::-1]
