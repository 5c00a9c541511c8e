"""Hits as clients see them, whole or in the fields they ask for."""

from __future__ import annotations

from collections.abc import Sequence

from service.errors import InputError
from service.search.document import Hit
from service.search.query import Found

FIELDS = ("id", "text", "language", "score", "metadata", "passage", "margin", "group")
_ONE_OF_METADATA = "metadata."


def check_fields(fields: Sequence[str] | None) -> None:
    """Raise InputError where `fields` names what a hit does not have."""
    for position, name in enumerate(fields or ()):
        if name not in FIELDS and not name.startswith(_ONE_OF_METADATA):
            raise InputError(
                f"A hit has {', '.join(FIELDS)}.",
                field=f"fields[{position}]",
                given=name,
                remedy="Write metadata.NAME for one field of the metadata.",
            )


def hit_answer(found: Found, fields: Sequence[str] | None = None) -> dict[str, object]:
    """Return a hit for JSON; passage, margin and group only where there are such.

    Args:
        found: The hit.
        fields: Only these, as `check_fields` takes them; all where None.
    """
    answer = _whole(found)
    if fields is None:
        return answer
    chosen = {name: answer[name] for name in fields if name in answer}
    wanted = {name.removeprefix(_ONE_OF_METADATA) for name in fields if "." in name}
    if wanted and "metadata" not in chosen:
        metadata = found.hit.metadata
        chosen["metadata"] = {name: metadata[name] for name in metadata if name in wanted}
    return chosen


def _whole(found: Found) -> dict[str, object]:
    hit = found.hit
    answer: dict[str, object] = {
        "id": hit.id,
        "text": hit.text,
        "language": hit.language,
        "score": round(hit.score, 6),  # float32 holds no more
        "metadata": dict(hit.metadata),
    }
    if hit.passage is not None:
        start, end = hit.passage
        answer["passage"] = {"text": hit.text[start:end], "start": start, "end": end}
    if found.margin is not None:
        answer["margin"] = round(found.margin, 6)
    if found.members:
        answer["group"] = _group(hit, found.members)
    return answer


def _group(best: Hit, others: Sequence[Hit]) -> dict[str, object]:
    languages = {hit.language for hit in (best, *others) if hit.language is not None}
    return {
        "languages": sorted(languages),
        "members": [
            {"id": hit.id, "language": hit.language, "score": round(hit.score, 6)} for hit in others
        ],
    }
