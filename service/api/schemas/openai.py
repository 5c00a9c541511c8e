"""Bodies and answers below /v1, in OpenAI's shape."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field, JsonValue

from service.api.schemas.embed import Encoding, Precision
from service.api.schemas.parts import Answer, LanguageCode, Request, Texts, Width


class EmbeddingsRequest(Request):
    """Texts to turn into vectors."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"model": "interlingua-mini", "input": ["Good morning", "Guten Morgen"]}]
        }
    )

    input: Texts = Field(description="A text, or a list of texts; token ids are refused")
    model: str | None = Field(
        None, description="A loaded model by name; any other name means the first of them"
    )
    encoding_format: Encoding = None
    precision: Precision = None
    dimensions: Width | None = Field(
        None, description="Keep only the first so many dimensions; vectors keep length 1"
    )
    user: JsonValue = Field(None, description="Ignored")
    language: LanguageCode = None


class Embedding(Answer):
    """One vector."""

    object: Literal["embedding"]
    index: int
    embedding: list[float] | str


class Usage(Answer):
    """Tokens that were encoded."""

    prompt_tokens: int
    total_tokens: int
    truncated: list[int] | None = Field(
        None, description="Positions of texts that were cut to the model's limit"
    )


class EmbeddingsAnswer(Answer):
    """The vectors, in the order of the input."""

    object: Literal["list"]
    data: list[Embedding]
    model: str
    usage: Usage


class OpenAIModel(Answer):
    """A loaded model."""

    id: str
    object: Literal["model"]
    created: int
    owned_by: str


class OpenAIModels(Answer):
    """All loaded models."""

    object: Literal["list"]
    data: list[OpenAIModel]


class OpenAIErrorBody(Answer):
    """What went wrong."""

    message: str
    type: str
    param: str | None
    code: str | None


class OpenAIError(Answer):
    """OpenAI's error object."""

    error: OpenAIErrorBody
