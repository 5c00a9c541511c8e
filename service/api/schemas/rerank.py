"""Bodies and answers of /rerank, as text-embeddings-inference has it, and of /v1/rerank, as Cohere
and Jina have it.
"""  # noqa: D205

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, ConfigDict, Field, WithJsonSchema, model_validator

from service.api.schemas.embed import Truncation
from service.api.schemas.openai import Usage
from service.api.schemas.parts import Answer, LanguageCode, ModelName, Request
from service.errors import MalformedError


def _texts_of(value: object) -> object:
    """Return documents as texts; one may be an object with its text in `text`."""
    if not isinstance(value, list):
        return value
    return [item["text"] if isinstance(item, dict) and "text" in item else item for item in value]


Documents = Annotated[
    list[str],
    BeforeValidator(_texts_of),
    Field(min_length=1),
    WithJsonSchema(
        {
            "type": "array",
            "minItems": 1,
            "items": {
                "anyOf": [
                    {"type": "string"},
                    {
                        "type": "object",
                        "properties": {"text": {"type": "string"}},
                        "required": ["text"],
                    },
                ]
            },
        }
    ),
]
"""Texts, or objects with a `text`; always texts once they are read."""


class RerankRequest(Truncation):
    """Texts to put in order."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "query": "Warum schwimmt Eis?",
                    "texts": ["Bread rises because of yeast.", "Ice is lighter than water."],
                    "return_text": True,
                }
            ]
        }
    )

    query: str = Field(description="What the texts are compared with")
    texts: list[str] = Field(min_length=1, description="A list of texts")
    return_text: bool | None = Field(None, description="Whether each text is in the answer")
    raw_scores: bool | None = Field(
        None, description="Changes nothing: scores are cosines in any case"
    )
    model: ModelName = None
    language: LanguageCode = None

    @model_validator(mode="before")
    @classmethod
    def _not_the_other_shape(cls, value: object) -> object:
        if isinstance(value, dict) and "documents" in value and "texts" not in value:
            raise MalformedError(
                "Here the texts to rank are called `texts`.",
                field="texts",
                remedy="POST /v1/rerank takes `documents`, as Cohere, Jina and infinity have it.",
            )
        return value


class RankedText(Answer):
    """One text's place."""

    index: int = Field(description="Its position among the texts of the request")
    score: float = Field(description="Cosine with the query, -1 to 1")
    text: str | None = Field(None, description="With return_text")


class RerankDocumentsRequest(Request):
    """Documents to put in order."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "model": "interlingua-mini",
                    "query": "Warum schwimmt Eis?",
                    "documents": ["Bread rises because of yeast.", "Ice is lighter than water."],
                    "top_n": 1,
                }
            ]
        }
    )

    query: str = Field(description="What the documents are compared with")
    documents: Documents = Field(description='A list of texts, or of objects {"text": "..."}')
    top_n: int | None = Field(None, ge=1, description="Only so many of the best; all if left out")
    return_documents: bool | None = Field(None, description="Whether each text is in the answer")
    model: str | None = Field(
        None, description="A loaded model by name; any other name means the first of them"
    )
    language: LanguageCode = None


class RankedDocumentText(Answer):
    """What was ranked."""

    text: str


class RankedDocument(Answer):
    """One document's place."""

    index: int = Field(description="Its position among the documents of the request")
    relevance_score: float = Field(description="Cosine with the query, -1 to 1")
    document: RankedDocumentText | None = Field(None, description="With return_documents")


class RerankAnswer(Answer):
    """The documents, best first."""

    object: Literal["list"]
    model: str
    results: list[RankedDocument]
    usage: Usage
