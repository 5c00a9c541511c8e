"""One hit for what is said several times: translations, near-duplicates, parts of one work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from service.errors import InputError, in_field
from service.search.backend import CorpusBackend
from service.search.document import Hit, check_field

DEFAULT_SCORE = 0.8


@dataclass(frozen=True, slots=True)
class Grouping:
    """What makes hits a group: exactly one of the two.

    Args:
        score: Documents whose cosine with the group's best hit is at least this.
        field: Documents with the same value in this metadata field; one without it stays alone.

    Raises:
        InputError: Both or none, or a value that cannot be.
    """

    score: float | None = None
    field: str | None = None

    def __post_init__(self) -> None:
        if (self.score is None) == (self.field is None):
            raise InputError(
                "Exactly one of score and field says what makes a group.",
                field="group",
                remedy=f'Send {{"score": {DEFAULT_SCORE}}} or {{"field": "work"}}.',
            )
        if self.score is not None and not -1 <= self.score <= 1:
            raise InputError("A cosine is due.", field="group.score", given=self.score)
        if self.field is not None:
            with in_field("group.field"):
                check_field(self.field)


def group_hits(corpus: CorpusBackend, hits: Sequence[Hit], grouping: Grouping) -> list[list[int]]:
    """Return groups of rows of `hits`, best first, in each group too.

    Each hit joins the best group that takes it, or begins one of its own; so a group is a circle
    around its best hit, and no chain of small steps joins what is far apart.
    """
    if grouping.field is not None:
        return _by_field(hits, grouping.field)
    assert grouping.score is not None, "one of the two is given; this is a bug"
    if not hits:
        return []
    vectors = corpus.vectors_of([hit.id for hit in hits])
    groups: list[list[int]] = []
    for row, vector in enumerate(vectors):
        scores = vectors[[group[0] for group in groups]] @ vector
        takers = (scores >= grouping.score).nonzero()[0]
        if len(takers):
            groups[int(takers[0])].append(row)
        else:
            groups.append([row])
    return groups


def _by_field(hits: Sequence[Hit], field: str) -> list[list[int]]:
    groups: dict[object, list[int]] = {}
    for row, hit in enumerate(hits):
        value = hit.metadata.get(field)
        alone = value is None or isinstance(value, list)
        # The type is part of the key: to Python 1, 1.0 and true are the same.
        key = (row,) if alone else (type(value).__name__, value)
        groups.setdefault(key, []).append(row)
    return list(groups.values())
