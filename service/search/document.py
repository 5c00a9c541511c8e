"""What a corpus holds, and what a search gives back."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TypeAlias

import orjson

from service.errors import InputError, MalformedError, TooLargeError, as_given

Scalar: TypeAlias = str | int | float | bool | None
Value: TypeAlias = Scalar | list[Scalar]
Metadata: TypeAlias = Mapping[str, Value]
"""Field -> scalar, or list of scalars. Flat, so that every part of it can be filtered by."""
Span: TypeAlias = tuple[int, int]
"""Characters of a text: from the first to before the second."""

MAX_ID_CHARACTERS = 256
MAX_TEXT_CHARACTERS = 1_000_000
MAX_FIELD_CHARACTERS = 128
MAX_METADATA_BYTES = 65_536
MAX_INTEGER = 2**63 - 1
"""SQLite's largest; a larger one would be compared as a rounded float."""

# Ids travel in URLs, headers and logs: text, not control characters, nor half a surrogate pair.
_NOT_IN_IDS = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
# Characters that JSON escapes inside a string: a field holding one could not be named in a
# SQLite JSON path.
_NOT_IN_FIELDS = re.compile('[\x00-\x1f\x7f"\\\\\ud800-\udfff]')
_SURROGATE = re.compile("[\ud800-\udfff]")
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[a-z0-9]+)*")
_CORPUS_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


@dataclass(frozen=True, slots=True)
class Document:
    """One document; whatever is built is valid.

    Args:
        id: 1 to 256 characters, unique in its corpus.
        text: What is shown and searched; at least one character.
        language: A lower-case BCP 47 code such as `de` or `zh-hant`, or None where not known.
        metadata: Field -> scalar or list of scalars.
        passages: Where the text was split, in order; empty where it is searched as a whole. They
            come from the corpus' policy, not from a caller.

    Raises:
        InputError: A part that cannot be stored, with the field's name.
    """

    id: str
    text: str
    language: str | None = None
    metadata: Metadata = field(default_factory=dict)
    passages: tuple[Span, ...] = ()

    def __post_init__(self) -> None:
        check_id(self.id)
        _check_text(self.text)
        if self.language is not None:
            check_language(self.language)
        check_metadata(self.metadata)


# Of a frozen class, so not by assignment; a search makes thousands of documents.
_set_id, _set_text, _set_language, _set_metadata, _set_passages = (
    vars(Document)[each.name].__set__ for each in fields(Document)
)


@dataclass(frozen=True, slots=True)
class Hit:
    """One neighbour of a query.

    Attributes:
        score: The cosine of the two vectors, -1 to 1.
        passage: The part of `text` that matched; None where it is searched as a whole.
    """

    id: str
    text: str
    language: str | None
    score: float
    metadata: Metadata
    passage: Span | None = None


def document_as_stored(
    id: str, text: str, language: str | None, metadata: Metadata, passages: tuple[Span, ...]
) -> Document:
    """Return a document that was checked when it was written, without checking it again."""
    document = object.__new__(Document)
    _set_id(document, id)
    _set_text(document, text)
    _set_language(document, language)
    _set_metadata(document, metadata)
    _set_passages(document, passages)
    return document


def document_from_json(record: object, *, field: str = "document") -> Document:
    """Return the document that a parsed JSON value describes.

    Args:
        record: `{"id", "text", "language"?, "metadata"?}`; other keys are refused, since a
            misspelt one would be lost without a word.
        field: Where it stood, for error messages: `documents[3]`.

    Raises:
        InputError: The field at fault is named below `field`.
    """
    if not isinstance(record, dict):
        raise MalformedError(
            "A document is a JSON object with at least id and text.", field=field, given=record
        )
    unknown = sorted(map(str, set(record) - {"id", "text", "language", "metadata"}))
    if unknown:
        raise MalformedError(
            "This is no field of a document.",
            field=f"{field}.{unknown[0]}",
            remedy="Put further fields under metadata.",
        )
    missing = [name for name in ("id", "text") if name not in record]
    if missing:
        raise MalformedError(f"The document has no {missing[0]}.", field=f"{field}.{missing[0]}")
    metadata = record.get("metadata")
    try:
        return Document(
            record["id"],
            record["text"],
            record.get("language"),
            {} if metadata is None else metadata,
        )
    except InputError as error:
        error.field = f"{field}.{error.field}"
        raise


def check_id(value: object) -> None:
    """Raise InputError unless `value` can be a document's id."""
    if not isinstance(value, str) or not 1 <= len(value) <= MAX_ID_CHARACTERS:
        raise InputError(
            f"An id is a string of 1 to {MAX_ID_CHARACTERS} characters.",
            field="id",
            given=as_given(value),
        )
    if value in (".", ".."):
        raise InputError(
            'An id is neither "." nor "..": clients take these out of a URL, so that to delete '
            "such a document would drop its corpus.",
            field="id",
            given=value,
        )
    if _NOT_IN_IDS.search(value):
        raise InputError(
            "An id holds no control characters and no lone surrogates.", field="id", given=value
        )


def check_language(value: object) -> None:
    """Raise InputError unless `value` can be a language's code."""
    if not isinstance(value, str) or len(value) > 16 or not _LANGUAGE.fullmatch(value):
        raise InputError(
            "A language is a lower-case code of two or three letters, with subtags after hyphens.",
            field="language",
            given=value,
            remedy="Write de, pt-br or zh-hant; leave it out where it is not known.",
        )


def is_corpus_name(value: str) -> bool:
    """Return whether `value` can name a corpus."""
    return _CORPUS_NAME.fullmatch(value) is not None


def check_corpus_name(value: str) -> None:
    """Raise InputError unless `value` can name a corpus; no such name leads out of a directory."""
    if not is_corpus_name(value):
        raise InputError(
            "A corpus name has 1 to 64 lower-case letters, digits, dots, hyphens and underscores, "
            "and begins with a letter or digit.",
            field="name",
            given=value,
        )


def check_metadata(metadata: object) -> None:
    """Raise InputError unless `metadata` maps fields to scalars or lists of scalars."""
    if not isinstance(metadata, Mapping):
        raise InputError("Metadata is a JSON object.", field="metadata", given=metadata)
    for name, value in metadata.items():
        check_field(name)
        for element in value if isinstance(value, list) else (value,):
            check_scalar(element, f"metadata.{name}")
    size = len(orjson.dumps(dict(metadata))) if metadata else 0
    if size > MAX_METADATA_BYTES:
        raise TooLargeError(
            f"Metadata takes {size} bytes; {MAX_METADATA_BYTES} are allowed a document.",
            field="metadata",
        )


def check_field(name: object) -> None:
    """Raise InputError unless `name` can be a metadata field."""
    if not isinstance(name, str) or not 1 <= len(name) <= MAX_FIELD_CHARACTERS:
        raise InputError(
            f"A metadata field's name has 1 to {MAX_FIELD_CHARACTERS} characters.",
            field="metadata",
            given=name,
        )
    if _NOT_IN_FIELDS.search(name):
        raise InputError(
            "A metadata field's name holds no quotes, backslashes or control characters.",
            field="metadata",
            given=name,
        )


def check_scalar(value: object, field: str) -> Scalar:
    """Return `value`, or raise InputError for `field` unless SQLite can hold and compare it."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        # SQLite's JSON functions end a string at NUL, so a filter would compare half of it.
        if "\0" in value or _SURROGATE.search(value):
            raise InputError(
                "A string holds no NUL and no lone surrogates.", field=field, given=value
            )
    elif isinstance(value, int | float):
        if not math.isfinite(value):
            raise InputError("A number is finite.", field=field, given=value)
        # Of an integer that 64 bits do not hold a JSON parser makes a float, which is that of its
        # neighbours too.
        if abs(value) > MAX_INTEGER:
            raise InputError(
                "An integer has at most 64 bits.",
                field=field,
                given=value,
                remedy="Send it as a string.",
            )
    else:
        raise InputError(
            "A metadata value is a string, number, boolean, null, or a list of these.",
            field=field,
            given=value,
            remedy='Flatten nested objects: {"author.name": "..."}.',
        )
    return value


def _check_text(value: object) -> None:
    if not isinstance(value, str) or not value.strip():
        raise InputError(
            "A document's text is a string that is not blank.",
            field="text",
            given=as_given(value),
        )
    if len(value) > MAX_TEXT_CHARACTERS:
        raise TooLargeError(
            f"A document's text has {len(value)} characters; {MAX_TEXT_CHARACTERS} are allowed.",
            field="text",
            remedy="Split it into passages.",
        )
    if _SURROGATE.search(value):
        raise InputError("A text holds no lone surrogates.", field="text", given=value)
