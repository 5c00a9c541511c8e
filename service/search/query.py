"""What may be asked of a corpus beyond its nearest documents; over any backend.

offset, grouping and margin are made of the backend's own search, so every engine has them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from service.errors import InputError
from service.inference.session import Vectors
from service.inference.vectors import SHORTEST
from service.search.backend import CorpusBackend
from service.search.checks import check_count
from service.search.deletions import made_of_those_there
from service.search.document import Hit
from service.search.filters import Filter
from service.search.grouping import Grouping, group_hits
from service.search.margin import hit_margins

MAX_DEPTH = 10_000
"""Neighbours that one query looks at, however far its offset or large its groups are."""

CANDIDATES_EACH = 4
"""So many neighbours are looked at for each hit that is wanted, where hits are put together or
ordered anew."""


@dataclass(frozen=True, slots=True)
class Query:
    """What to look for and how to answer.

    Attributes:
        k: Hits, or groups of hits, for each vector.
        offset: So many of the best are left out.
        languages: Only documents in one of them.
        filter: Only documents it matches.
        min_score: Only hits of at least this cosine.
        exclude: For each vector, ids that must not be among its hits.
        grouping: Put hits together that say the same; None for not.
        by_margin: Order the nearest by margin instead of cosine.
    """

    k: int = 10
    offset: int = 0
    languages: Collection[str] | None = None
    filter: Filter | None = None
    min_score: float | None = None
    exclude: Sequence[Collection[str]] | None = None
    grouping: Grouping | None = None
    by_margin: bool = False

    def __post_init__(self) -> None:
        check_count("k", self.k)
        if self.offset < 0 or self.offset + self.k > MAX_DEPTH:
            field = "offset" if self.offset else "k"
            raise InputError(
                f"offset + k may be 1 to {MAX_DEPTH}.",
                field=field,
                given=getattr(self, field),
                remedy="GET /corpora/NAME/export gives all documents.",
            )


@dataclass(frozen=True, slots=True)
class Found:
    """A hit with what was asked for besides.

    Attributes:
        hit: The best of its group.
        margin: Its margin score, where hits are ordered by it.
        members: The others of its group, best first.
    """

    hit: Hit
    margin: float | None = None
    members: tuple[Hit, ...] = ()


def check_texts(texts: Sequence[str], *, field: str) -> None:
    """Raise InputError where one of `texts` is blank: no document is near to nothing.

    Args:
        texts: What is looked for.
        field: Where they stood.
    """
    for position, text in enumerate(texts):
        if not text.strip():
            raise _near_to_nothing("A text to search with is blank", text, f"{field}[{position}]")


def check_directions(vectors: Vectors, given: Sequence[object], *, field: str) -> None:
    """Raise InputError where one of `vectors` [queries, dimension] is zero, as for a blank text.

    A model makes one of a text of which it knows nothing: of characters without width, say.

    Args:
        vectors: What is searched with.
        given: What they were made of.
        field: Where that stood.
    """
    zero = np.linalg.norm(vectors, axis=1) < SHORTEST
    if zero.any():
        position = int(np.argmax(zero))
        what = "The vector to search with is zero"
        raise _near_to_nothing(what, given[position], f"{field}[{position}]")


def _near_to_nothing(what: str, given: object, field: str) -> InputError:
    return InputError(
        f"{what}: every document would be as near as any other.",
        field=field,
        given=given,
        remedy="Leave it out, or say what to look for.",
    )


def find(
    corpus: CorpusBackend,
    vectors: Vectors,
    query: Query,
    *,
    check: Callable[[], None] = lambda: None,
) -> list[list[Found]]:
    """Return for each of `vectors` [queries, dimension] what `query` asks for, best first.

    Args:
        corpus: Where to look.
        vectors: To what.
        query: For what.
        check: Called before each search in the corpus, and before the hits of a vector are put
            together or ordered anew; what it raises ends the work.

    Raises:
        InputError: What `CorpusBackend.search` raises.
    """
    check()
    wanted = query.offset + query.k
    if query.grouping is None and not query.by_margin:
        rows = _search(corpus, vectors, query, wanted)
        return [[Found(hit) for hit in row[query.offset :]] for row in rows]
    depth = min(CANDIDATES_EACH * wanted, MAX_DEPTH)
    pending = list(range(len(vectors)))
    answers: list[list[Found]] = [[] for _ in pending]
    while pending:
        check()
        rows = _search(corpus, vectors[pending], _only(query, pending), depth)
        short = []
        for number, row in zip(pending, rows, strict=True):
            check()
            answers[number] = _arranged_as_there(corpus, row, query)[query.offset : wanted]
            exhausted = len(row) < depth or depth == MAX_DEPTH
            if len(answers[number]) < query.k and not exhausted:
                short.append(number)
        pending, depth = short, min(CANDIDATES_EACH * depth, MAX_DEPTH)
    return answers


def _arranged_as_there(corpus: CorpusBackend, hits: Sequence[Hit], query: Query) -> list[Found]:
    """Return `hits` arranged, without those that were deleted since they were found."""
    by_id = {hit.id: hit for hit in hits}

    def arrange(ids: Sequence[str]) -> list[Found]:
        return _arranged(corpus, [by_id[id] for id in ids], query)

    return made_of_those_there(corpus, list(by_id), arrange)


def _arranged(corpus: CorpusBackend, hits: Sequence[Hit], query: Query) -> list[Found]:
    found = [Found(hit) for hit in hits]
    if query.by_margin:
        margins = hit_margins(corpus, hits, languages=query.languages, filter=query.filter)
        order = np.argsort(-margins, kind="stable")
        found = [Found(hits[row], margin=float(margins[row])) for row in order]
    if query.grouping is None:
        return found
    groups = group_hits(corpus, [one.hit for one in found], query.grouping)
    return [
        replace(found[first], members=tuple(found[row].hit for row in others))
        for first, *others in groups
    ]


def _search(corpus: CorpusBackend, vectors: Vectors, query: Query, depth: int) -> list[list[Hit]]:
    return corpus.search(
        vectors,
        k=depth,
        languages=query.languages,
        filter=query.filter,
        min_score=query.min_score,
        exclude=query.exclude,
    )


def _only(query: Query, numbers: Sequence[int]) -> Query:
    if query.exclude is None:
        return query
    return replace(query, exclude=[query.exclude[number] for number in numbers])
