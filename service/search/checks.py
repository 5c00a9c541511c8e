"""What a corpus checks of every call before it touches the disk."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np

from service.errors import ConflictError, InputError, NotFoundError
from service.inference.session import Vectors
from service.inference.vectors import normalise
from service.search.document import MAX_INTEGER, Document
from service.search.filters import Filter, fields_of

SHORTEST, LONGEST = 1e-15, 1e15
"""Lengths between which no square overflows or vanishes in float32; encoders make no others."""


def unit_vectors(vectors: Vectors, *, dimension: int, rows: int | None = None) -> Vectors:
    """Return `vectors` float32 [rows, dimension] scaled to length 1; a zero vector stays zero.

    Raises:
        InputError: Another shape, or a number that is not finite.
    """
    if vectors.ndim != 2 or vectors.shape[1] != dimension:
        raise InputError(
            f"The corpus takes vectors of {dimension} numbers.",
            field="vectors",
            given=vectors.shape,
        )
    if rows is not None and len(vectors) != rows:
        raise InputError(
            f"{len(vectors)} vectors came with {rows} documents; one each is due.", field="vectors"
        )
    lengths = np.sqrt(np.einsum("rd,rd->r", vectors, vectors))
    if np.all((lengths > SHORTEST) & (lengths < LONGEST)):
        unit: Vectors = (vectors / lengths[:, np.newaxis]).astype(np.float32, copy=False)
        return unit
    finite = np.isfinite(vectors).all(axis=1)
    if not finite.all():
        raise InputError(
            "A vector holds a number that is not finite.",
            field=f"vectors[{int(np.argmin(finite))}]",
        )
    # First to a greatest number of 1, so that squares of very large or small numbers neither
    # overflow nor vanish.
    peaks = np.abs(vectors).max(axis=1, keepdims=True, initial=0)
    scaled = vectors / np.where(peaks > 0, peaks, 1)
    return normalise(np.ascontiguousarray(scaled, dtype=np.float32))


def no_such_document(corpus: str, id: str, *, field: str) -> NotFoundError:
    """Return the error for an id, given as `field`, that no document of `corpus` has."""
    return NotFoundError(f"Corpus {corpus!r} has no document of this id.", field=field, given=id)


def check_unique(documents: Sequence[Document]) -> None:
    """Raise InputError where an id stands twice among `documents`."""
    seen: dict[str, int] = {}
    for position, document in enumerate(documents):
        first = seen.setdefault(document.id, position)
        if first != position:
            raise InputError(
                f"The same id stands at {first} and {position} of one batch.",
                field=f"documents[{position}].id",
                given=document.id,
                remedy="Send each id once; a later batch replaces it.",
            )


def check_whole(documents: Sequence[Document]) -> None:
    """Raise InputError where a document is in passages."""
    for position, document in enumerate(documents):
        if document.passages:
            raise InputError(
                "This corpus holds whole documents, no passages.",
                field=f"documents[{position}].passages",
                remedy="Make the corpus with passages, or leave them out.",
            )


def check_space(corpus: str, *, space: str, model: str, other_space: str, other_model: str) -> None:
    """Raise ConflictError unless `other_model`'s vectors lie in the space of `corpus`."""
    if space != other_space:
        raise ConflictError(
            f"Corpus {corpus!r} holds vectors of the space {space!r}, made by {model}; "
            f"{other_model} makes vectors of {other_space!r}.",
            field="model",
            given=other_model,
            remedy=f"Use {model}, or a model of the same space.",
        )


def check_new_name(name: str, *, taken: bool) -> None:
    """Raise ConflictError where a corpus of `name` is there."""
    if taken:
        raise ConflictError(
            "A corpus of this name is there already.",
            field="name",
            given=name,
            remedy="Choose another name, or drop that one first.",
        )


def check_count(field: str, count: int) -> None:
    """Raise InputError unless `count` is at least 1."""
    if count < 1:
        raise InputError("At least 1 is due.", field=field, given=count)


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """What a search was asked, checked.

    Attributes:
        queries: float32 [queries, dimension] of unit length.
        lowest: The lowest score a hit may have.
        excluded: For each query, ids that must not be among its hits.
        depth: Neighbours to look at: so many more than wanted as may be left out again, so that
            excluding costs no hits.
    """

    queries: Vectors
    lowest: float
    excluded: Sequence[Collection[str]]
    depth: int


def check_search(
    vectors: Vectors,
    *,
    dimension: int,
    k: int,
    min_score: float | None,
    exclude: Sequence[Collection[str]] | None,
) -> Asked:
    """Return what is asked of a corpus of `dimension`, whatever keeps it.

    Raises:
        InputError: No hits are wanted, vectors that cannot be compared, a score that is no number,
            or lists of ids for another number of vectors.
    """
    check_count("k", k)
    queries = unit_vectors(vectors, dimension=dimension)
    lowest = lowest_score(min_score)
    excluded = exclude if exclude is not None else [()] * len(queries)
    if len(excluded) != len(queries):
        raise InputError(
            f"{len(excluded)} lists of ids to leave out came with {len(queries)} vectors.",
            field="exclude",
        )
    return Asked(queries, lowest, excluded, k + max(map(len, excluded), default=0))


def check_fields(corpus: str, filter: Filter, has_field: Callable[[str], bool]) -> None:
    """Raise InputError where `filter` has a field that no document has."""
    for name in sorted(fields_of(filter)):
        if not has_field(name):
            raise InputError(
                f"No document of corpus {corpus!r} has this metadata field.",
                field="filter",
                given=name,
                remedy=f"Correct its name; to find documents without it, compare with null: "
                f'{{"{name}": null}}.',
            )


def lowest_score(min_score: float | None) -> float:
    """Return the lowest score a hit may have, or raise InputError."""
    if min_score is None:
        return -math.inf
    if not math.isfinite(min_score):
        raise InputError("A score is a finite number.", field="min_score", given=min_score)
    return min_score


def key_after(cursor: str | None) -> int:
    """Return the row key that `cursor` stands for, 0 for the beginning, or raise InputError."""
    if cursor is None:
        return 0
    digits = cursor.isascii() and cursor.isdecimal() and len(cursor) <= len(str(MAX_INTEGER))
    if not digits or int(cursor) > MAX_INTEGER:
        raise InputError(
            "This is no cursor of an earlier page.",
            field="cursor",
            given=cursor,
            remedy="Leave it out to begin at the first page.",
        )
    return int(cursor)
