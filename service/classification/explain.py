"""Why a head answers as it does: what each part of the input did to the score.

The effect of a part is the probability of the label less what it is without the part: it needs
nothing of the encoder but its vectors, so it works alike for any of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from service.classification.head import Head
from service.inference.documents import DocumentPooling, pool_pieces
from service.inference.session import Vectors
from service.text.sentences import Passage
from service.text.windows import split_words

MOST_PARTS = 32
"""Of one text; a longer one has several words a part."""


@dataclass(frozen=True, slots=True)
class Effect:
    """A part of a text, and what it adds to the probability of the label."""

    part: Passage
    effect: float
    of_pair: int | None = None


@dataclass(frozen=True, slots=True)
class Variants:
    """A text with each of its parts left out in turn."""

    parts: tuple[Passage, ...]
    texts: tuple[str, ...]


def leave_out(text: str, *, most: int = MOST_PARTS) -> Variants:
    """Return the parts of `text`, words or runs of words, and the text without each."""
    words = split_words(text)
    size = max(1, -(-len(words) // most))
    runs = [words[first : first + size] for first in range(0, len(words), size)]
    parts = tuple(
        Passage(text[run[0].start : run[-1].end], run[0].start, run[-1].end) for run in runs
    )
    return Variants(parts, tuple(text[: part.start] + text[part.end :] for part in parts))


def effects_of_parts(
    parts: Sequence[Passage],
    column: int,
    whole: float,
    without: Vectors,
    *,
    of_pair: int | None = None,
) -> list[Effect]:
    """Return the effects of `parts` on the label of `column`.

    Args:
        parts: What was left out.
        column: Of the label.
        whole: Its probability with nothing left out.
        without: Probabilities [parts, labels] with each part left out.
        of_pair: Which text of a pair the parts are in.
    """
    return [
        Effect(part, whole - float(row[column]), of_pair)
        for part, row in zip(parts, without, strict=True)
    ]


def effects_of_pieces(
    head: Head,
    text: str,
    pieces: Sequence[Passage],
    vectors: Vectors,
    column: int,
    whole: float,
    *,
    pooling: DocumentPooling,
) -> list[Effect]:
    """Return the effects of a document's pieces, of which there are at least two.

    Args:
        head: The classifier.
        text: The document.
        pieces: Its own; where there are very many, neighbours are taken together.
        vectors: Theirs, [pieces, D].
        column: Of the label.
        whole: Its probability for the whole document.
        pooling: How the document's vector was made.
    """
    groups = np.array_split(np.arange(len(pieces)), min(len(pieces), MOST_PARTS))
    parts = []
    pooled = []
    for group in groups:
        start, end = pieces[group[0]].start, max(pieces[row].end for row in group)
        parts.append(Passage(text[start:end], start, end))
        rest = np.delete(vectors, group, axis=0)
        pooled.append(pool_pieces(rest, [len(rest)], pooling))
    return effects_of_parts(parts, column, whole, head.predict(np.concatenate(pooled)))


def strongest(effects: Sequence[Effect]) -> list[Effect]:
    """Return `effects`, those that moved the score most first."""
    return sorted(effects, key=lambda effect: -abs(effect.effect))[:MOST_PARTS]
