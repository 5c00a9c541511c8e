"""The metadata fields that the owner of a corpus declares: their names and the types of values.

A corpus without a declaration takes any field. With one, a document that has another field, or a
value of another type, is refused, and so is a filter on a field that is not declared: a misspelt
name is then never taken for a field that happens to be missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias, cast, get_args

from service.errors import InputError
from service.search.document import Document, Scalar, check_field
from service.search.filters import Filter, fields_of

FieldType: TypeAlias = Literal["string", "integer", "number", "boolean"]
FieldTypes: TypeAlias = Mapping[str, FieldType]
"""Field -> type of its value, or of each element where it holds a list. null is of every type."""

TYPES: tuple[FieldType, ...] = get_args(FieldType)
MAX_FIELDS = 256


def check_types(fields: Mapping[str, object]) -> FieldTypes:
    """Return `fields`, or raise InputError where it declares what cannot be stored."""
    if len(fields) > MAX_FIELDS:
        raise InputError(
            f"A corpus declares at most {MAX_FIELDS} fields.", field="fields", given=len(fields)
        )
    for name, declared in fields.items():
        check_field(name)
        if declared not in TYPES:
            raise InputError(
                f"A field's type is one of {', '.join(TYPES)}; a list's is that of its elements.",
                field=f"fields.{name}",
                given=declared,
            )
    return cast("FieldTypes", fields)


def check_declared(document: Document, fields: FieldTypes | None, *, field: str) -> None:
    """Raise InputError unless the metadata of `document` are as declared; None takes all.

    Args:
        document: Checked as such already.
        fields: Of the corpus.
        field: Where the document stood, for the message: `documents[3]`.
    """
    if fields is None:
        return
    for name, value in document.metadata.items():
        declared = fields.get(name)
        if declared is None:
            raise InputError(
                "The corpus declares no such metadata field.",
                field=f"{field}.metadata.{name}",
                given=value,
                remedy=f"It declares {_listed(fields)}; leave the field out, or make a corpus "
                "that declares it.",
            )
        for element in value if isinstance(value, list) else (value,):
            if not _is_a(element, declared):
                raise InputError(
                    f"The corpus declares this metadata field as {declared}.",
                    field=f"{field}.metadata.{name}",
                    given=element,
                    remedy=f"Send a value of type {declared}, or null.",
                )


def check_filter(filter: Filter | None, fields: FieldTypes | None) -> None:
    """Raise InputError where `filter` has a field that is not declared."""
    if filter is None or fields is None:
        return
    for name in sorted(fields_of(filter) - fields.keys()):
        raise InputError(
            "The corpus declares no such metadata field.",
            field="filter",
            given=name,
            remedy=f"It declares {_listed(fields)}.",
        )


def _is_a(value: Scalar, declared: FieldType) -> bool:
    if value is None:
        return True
    if isinstance(value, bool):  # to Python an int; to JSON it is not
        return declared == "boolean"
    if isinstance(value, str):
        return declared == "string"
    if isinstance(value, int):
        return declared in ("integer", "number")
    return declared == "number"


def _listed(fields: FieldTypes) -> str:
    return ", ".join(f"{name} ({declared})" for name, declared in sorted(fields.items())) or "none"
