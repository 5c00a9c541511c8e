"""Find the translations of each other in two corpora.

Artetxe & Schwenk 2019, section 3.2, `max.` retrieval with the ratio margin: the best candidate of
each sentence, in both directions, and of all these pairs the best first, each sentence at most
once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from service.errors import ConflictError
from service.inference.session import Vectors
from service.search.backend import CorpusBackend
from service.search.deletions import made_of_those_there
from service.search.margin import NEIGHBOURS, mean_score, ratio

DEFAULT_THRESHOLD = 1.17
"""Least margin of a pair: the best mean F1 of 15 languages (benchmarks/search/mining.py)."""

AT_ONCE = 512
"""Sentences whose neighbours are looked for in one go."""


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two corpora, or a part of it.

    Attributes:
        corpus: The corpus.
        languages: Only documents in one of them.
    """

    corpus: CorpusBackend
    languages: Collection[str] | None = None


@dataclass(frozen=True, slots=True)
class MinedPair:
    """Two documents that say the same."""

    source: str
    target: str
    margin: float
    cosine: float


@dataclass(frozen=True, slots=True)
class _Forward:
    """The candidates of one side's documents in the other: for each, its nearest."""

    ids: list[str]
    candidates: list[list[tuple[str, float]]]
    means: list[float]


def mine(
    source: Side,
    target: Side,
    *,
    threshold: float = DEFAULT_THRESHOLD,
    progress: Callable[[int, int], None] = lambda *_: None,
) -> list[MinedPair]:
    """Return pairs of ids, the likeliest translations first, each document at most once.

    Args:
        source: Where the first of a pair is from.
        target: Where the second is from; may be the same corpus in other languages.
        threshold: Least margin; -inf for the best partner of every document.
        progress: Told how many documents of both sides were looked at.

    Raises:
        ConflictError: The two are of different spaces or widths.
    """
    a, b = source.corpus, target.corpus
    if (a.space, a.dimension) != (b.space, b.dimension):
        raise ConflictError(
            f"Corpus {a.name!r} holds vectors of the space {a.space!r} ({a.dimension} numbers), "
            f"corpus {b.name!r} of {b.space!r} ({b.dimension}): they cannot be compared.",
            remedy="Re-encode one of them with a model of the other's space.",
        )
    total = a.info().documents + b.info().documents
    forward = _nearest(source, target, progress, 0, total)
    backward = _nearest(target, source, progress, len(forward.ids), total)
    return _one_to_one(forward, backward, threshold)


def _nearest(
    side: Side, other: Side, progress: Callable[[int, int], None], done: int, total: int
) -> _Forward:
    same = side.corpus.name == other.corpus.name
    found = _Forward([], [], [])
    for ids, vectors in _batches(side):
        rows = other.corpus.search(
            vectors,
            k=NEIGHBOURS,
            languages=other.languages,
            exclude=[[id] for id in ids] if same else None,
        )
        found.ids.extend(ids)
        found.candidates.extend([(hit.id, hit.score) for hit in row] for row in rows)
        found.means.extend(map(mean_score, rows))
        progress(done + len(found.ids), total)
    return found


def _batches(side: Side) -> Iterator[tuple[Sequence[str], Vectors]]:
    # A page takes one language, so several are read one after the other.
    for language in side.languages or (None,):
        cursor = None
        while True:
            page = side.corpus.page(cursor, limit=AT_ONCE, language=language)
            if page.documents:
                yield _vectors(side.corpus, [document.id for document in page.documents])
            if (cursor := page.next_cursor) is None:
                break


def _vectors(corpus: CorpusBackend, ids: Sequence[str]) -> tuple[Sequence[str], Vectors]:
    """Return those of `ids` that are still there, and their vectors."""
    return made_of_those_there(corpus, ids, lambda ids: (ids, corpus.vectors_of(ids)))


def _one_to_one(forward: _Forward, backward: _Forward, threshold: float) -> list[MinedPair]:
    source_means = dict(zip(forward.ids, forward.means, strict=True))
    target_means = dict(zip(backward.ids, backward.means, strict=True))
    pairs = _best(forward, source_means, target_means)
    pairs += [
        MinedPair(pair.target, pair.source, pair.margin, pair.cosine)
        for pair in _best(backward, target_means, source_means)
    ]
    mined: list[MinedPair] = []
    sources: set[str] = set()
    targets: set[str] = set()
    for pair in sorted(pairs, key=lambda pair: -pair.margin):
        if pair.margin < threshold:
            break
        if pair.source not in sources and pair.target not in targets:
            sources.add(pair.source)
            targets.add(pair.target)
            mined.append(pair)
    return mined


def _best(
    found: _Forward, means: Mapping[str, float], other_means: Mapping[str, float]
) -> list[MinedPair]:
    """Return each document's candidate of the largest margin."""
    best = []
    for id, candidates in zip(found.ids, found.candidates, strict=True):
        # Written between the two passes, a document may be a candidate without having its own.
        known = [(other, cosine) for other, cosine in candidates if other in other_means]
        if not known:
            continue
        margins = ratio(
            np.array([cosine for _, cosine in known]),
            means[id],
            [other_means[other] for other, _ in known],
        )
        row = int(margins.argmax())
        best.append(MinedPair(id, known[row][0], float(margins[row]), known[row][1]))
    return best
