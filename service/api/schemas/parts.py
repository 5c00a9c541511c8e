"""Parts that several requests have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    WithJsonSchema,
)

from service.errors import InputError, in_field

Decode = Callable[[list[int]], str]

Width = Annotated[int, WithJsonSchema({"type": "integer", "minimum": 1})]
"""A number of dimensions; too few are refused where the model is known, with the most it has."""

DECODE = "decode"
"""Key of the validation's context for what reads token ids; without it they are refused."""


class Request(BaseModel):
    """Base of all bodies.

    Fields nobody knows are ignored, since clients send many; types are not guessed, so that a
    string where a list is due is an error and not a surprise.
    """

    model_config = ConfigDict(extra="ignore", strict=True, frozen=True)


class Answer(BaseModel):
    """Base of the documented answers."""

    model_config = ConfigDict(frozen=True)


def _one_or_many(value: object, info: ValidationInfo) -> object:
    if isinstance(value, str):
        return [value]
    if isinstance(value, list) and value and _are_token_ids(value):
        decode: Decode | None = (info.context or {}).get(DECODE)
        if decode is not None:
            return _decoded(value, decode, field=info.field_name or "")
        raise InputError(
            "These are token ids; this service has vocabularies of its own, in which they mean "
            "something else.",
            field=info.field_name,
            given=value,
            remedy="Send the text itself; LangChain does so with check_embedding_ctx_length=False. "
            "The operator may have them read: --token-input cl100k_base.",
        )
    return value


def _decoded(value: list[object], decode: Decode, *, field: str) -> list[object]:
    rows = value if isinstance(value[0], list) else [value]
    texts: list[object] = []
    for position, row in enumerate(rows):
        # What is no list of numbers stays as it is, for pydantic to refuse with its place.
        if not isinstance(row, list) or not all(isinstance(id, int) for id in row):
            texts.append(row)
            continue
        with in_field(f"{field}[{position}]"):
            texts.append(decode(row))
    return texts


def _are_token_ids(value: list[object]) -> bool:
    first = value[0]
    if isinstance(first, list) and first:
        first = first[0]
    return isinstance(first, int) and not isinstance(first, bool)


Texts = Annotated[
    list[str],
    BeforeValidator(_one_or_many),
    Field(min_length=1),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string"},
                {"type": "array", "items": {"type": "string"}, "minItems": 1},
            ]
        }
    ),
]
"""One text or a list of them; always a list once it is read."""

ModelName = Annotated[
    str | None,
    Field(description="A loaded model by name (GET /models); the first of them if left out"),
]

LanguageCode = Annotated[
    str | None,
    Field(
        description="Language of all the texts, as a code such as de; it matters to models with "
        "an encoder a language, which detect it if left out"
    ),
]
