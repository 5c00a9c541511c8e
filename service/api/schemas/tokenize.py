"""Bodies of /tokenize and /decode: text-embeddings-inference's."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, ConfigDict, Field, WithJsonSchema

from service.api.schemas.parts import Answer, LanguageCode, ModelName, Request, Texts


class TokenizeRequest(Request):
    """Texts to cut into tokens."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"inputs": ["Wo ist der Bahnhof?"]}]})

    inputs: Texts = Field(description="A text, or a list of texts")
    add_special_tokens: bool = Field(
        True, description="Whether the tokens that the model wants around a text are shown"
    )
    prompt_name: str | None = Field(
        None, description="One of the model's prompts, put before each text (GET /models)"
    )
    model: ModelName = None
    language: LanguageCode = None


def _one_or_many_rows(value: object) -> object:
    flat = isinstance(value, list) and bool(value) and isinstance(value[0], int)
    return [value] if flat else value


IdRows = Annotated[
    list[list[int]],
    BeforeValidator(_one_or_many_rows),
    Field(min_length=1),
    WithJsonSchema({"type": "array", "items": {"type": "array", "items": {"type": "integer"}}}),
]


class DecodeRequest(Request):
    """Token ids to turn into text."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"ids": [[101, 57, 9]]}]})

    ids: IdRows = Field(description="A list of token ids, or a list of such lists")
    skip_special_tokens: bool = Field(
        True, description="Whether the tokens that the model wants around a text are left out"
    )
    model: ModelName = None


class TokenAnswer(Answer):
    """One token."""

    id: int
    text: str = Field(description="As the vocabulary spells it")
    special: bool = Field(description="Whether the model wants it around the text")
    start: int | None = Field(description="Where in the text it begins, in characters")
    stop: int | None = Field(description="Where it ends")
