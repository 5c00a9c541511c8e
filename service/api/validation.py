"""What pydantic found wrong, as one of our errors: the field, the value and the way out."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from pydantic import BaseModel

from service.errors import InputError, MalformedError, as_given

_SHAPE_SUFFIXES = ("_type", "_parsing", "missing", "too_short")
"""Ends of pydantic's error types where the shape is wrong, not the value: 400 and not 422."""


def explain(
    problems: Sequence[Mapping[str, Any]], model: type[BaseModel] | None = None
) -> InputError:
    """Return the first of pydantic's `problems` as an error.

    Args:
        problems: `ValidationError.errors()`, at least one; FastAPI's, whose places begin with the
            part of the request, where `model` is None.
        model: Whose fields they are; its descriptions become the remedy.
    """
    first = problems[0]
    path = first["loc"] if model is not None else first["loc"][1:]
    kind: str = first["type"]
    missing = kind == "missing"
    error_class = MalformedError if kind.endswith(_SHAPE_SUFFIXES) else InputError
    return error_class(
        "This field is required." if missing else _sentence(first["msg"]),
        field=field_name(path) or None,
        given=None if missing else as_given(first.get("input")),
        remedy=_remedy(path, model),
    )


def field_name(path: Sequence[str | int]) -> str:
    """Return `("documents", 3, "text")` as a person writes it: `documents[3].text`."""
    name = ""
    for part in path:
        name += f"[{part}]" if isinstance(part, int) else f".{part}" if name else part
    return name


def check_parameters(
    given: Mapping[str, str], known: Collection[str], *, body: Collection[str] = ()
) -> None:
    """Refuse query parameters that are not `known`, for routes that only clients of ours call.

    A misspelt one would change nothing, and nobody would notice. In bodies what is unknown is
    ignored: clients of other services send fields of these.

    Args:
        given: Of the request.
        known: Names that it may have.
        body: Fields of the body, which somebody may have put in the address.
    """
    for name, value in given.items():
        if name in known:
            continue
        listed = f"There are: {', '.join(sorted(known))}." if known else "There are none."
        raise InputError(
            "There is no such query parameter here.",
            field=name,
            given=value,
            remedy="It is a field of the body: send it there." if name in body else listed,
        )


@contextmanager
def called(inputs: str, field: str) -> Iterator[None]:
    """Have errors in the texts name the field they stood in: the engine knows only inputs."""
    try:
        yield
    except InputError as error:
        if error.field is not None and error.field.startswith(inputs):
            error.field = field + error.field.removeprefix(inputs)
        raise


def _remedy(path: Sequence[str | int], model: type[BaseModel] | None) -> str:
    if model is not None and path:
        field = model.model_fields.get(str(path[0]))
        if field is not None and field.description:
            return f"{path[0]}: {field.description}."
    return "GET /docs shows the request with an example."


def _sentence(message: str) -> str:
    return message if message.endswith(".") else message + "."
