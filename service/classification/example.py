"""One labelled example, as it is sent."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from service.errors import InputError, MalformedError, TooLargeError
from service.search.document import MAX_TEXT_CHARACTERS, check_language

MAX_LABEL_CHARACTERS = 256
UNKNOWN = "unknown"
"""The answer below the threshold; no label may have this name."""

_FIELDS = frozenset({"text", "text_pair", "label", "labels", "language", "group"})
_UNSAFE = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Example:
    """A text, or a pair of texts, and its labels.

    Attributes:
        text: The text; of a pair, the first (the premise).
        labels: One; or any number, where labels don't exclude each other.
        language: Its code, or None where nobody says.
        text_pair: The second text (the hypothesis) of a pair.
        group: What it shares with others that say the same, such as its translations; a group is
            held out whole.
    """

    text: str
    labels: tuple[str, ...]
    language: str | None = None
    text_pair: str | None = None
    group: str | None = None


def example_from_json(record: object, *, multi_label: bool) -> Example:
    """Return the example that a parsed JSON value describes.

    Args:
        record: `{"text", "label" or "labels", "language"?, "text_pair"?, "group"?}`; other keys are
            refused, since a misspelt one would be lost without a word.
        multi_label: Whether it may have several labels, or none.

    Raises:
        InputError: The field at fault is named.
    """
    if not isinstance(record, dict):
        raise MalformedError(
            "An example is a JSON object with text and label.",
            given=record,
            remedy='For example: {"text": "The match was a draw.", "label": "sport"}',
        )
    unknown = sorted(map(str, set(record) - _FIELDS))
    if unknown:
        raise MalformedError(
            f"This is no field of an example; there are {', '.join(sorted(_FIELDS))}.",
            field=unknown[0],
        )
    language = record.get("language")
    if language is not None:
        check_language(language)
    pair = record.get("text_pair")
    return Example(
        _text(record.get("text"), "text"),
        _labels(record, multi_label=multi_label),
        language,
        None if pair is None else _text(pair, "text_pair"),
        _group(record.get("group")),
    )


def check_label(label: object, *, field: str = "label") -> str:
    """Return `label`, or raise InputError where it cannot be one."""
    if not isinstance(label, str):
        raise MalformedError("A label is a string.", field=field, given=label)
    if not label.strip():
        raise InputError(
            "A label is empty.", field=field, given=label, remedy="Give it a name, or leave it out."
        )
    if len(label) > MAX_LABEL_CHARACTERS:
        raise TooLargeError(
            f"A label has at most {MAX_LABEL_CHARACTERS} characters, this one has {len(label)}.",
            field=field,
        )
    if _UNSAFE.search(label):
        raise InputError("A label has a control character.", field=field, given=label)
    if label == UNKNOWN:
        raise InputError(
            f"{UNKNOWN!r} is what is answered where no label fits; no label may have this name.",
            field=field,
            given=label,
            remedy="Rename it, to other, say; or leave it out and set unknown_threshold.",
        )
    return label


def _labels(record: Mapping[object, object], *, multi_label: bool) -> tuple[str, ...]:
    one, many = record.get("label"), record.get("labels")
    if (one is None) == (many is None):
        raise MalformedError(
            "An example has either label, one string, or labels, a list.",
            field="label",
            given=one,
        )
    if many is None:
        return (check_label(one),)
    if not multi_label:
        raise InputError(
            "A list of labels is for classifiers that give several.",
            field="labels",
            given=many,
            remedy='Send "multi_label": true with the request, or one label a text.',
        )
    if not isinstance(many, list):
        raise MalformedError("labels is a list of strings.", field="labels", given=many)
    return tuple(sorted({check_label(label, field="labels") for label in many}))


def _group(value: object) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str) or not 0 < len(value) <= MAX_LABEL_CHARACTERS:
        raise MalformedError(
            f"A group is a string of at most {MAX_LABEL_CHARACTERS} characters.",
            field="group",
            given=value,
            remedy="Give the texts that say the same, such as translations, the same one.",
        )
    return value


def _text(value: object, field: str) -> str:
    if not isinstance(value, str):
        raise MalformedError("A text is due here.", field=field, given=value)
    if not value.strip():
        raise InputError("The text is empty.", field=field, given=value)
    if len(value) > MAX_TEXT_CHARACTERS:
        raise TooLargeError(
            f"A text has at most {MAX_TEXT_CHARACTERS} characters, this one has {len(value)}.",
            field=field,
        )
    return value
