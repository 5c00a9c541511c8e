"""Bodies and answers of /corpora and the documents in them."""

from __future__ import annotations

from typing import Self

from pydantic import ConfigDict, Field, JsonValue, model_validator

from service.api.schemas.parts import Answer, ModelName, Request, Width
from service.api.schemas.similar import FILTER
from service.errors import InputError
from service.search.policy import IndexKind


class PassagesField(Request):
    """How long documents are split into passages of whole sentences."""

    words: int = Field(128, ge=8, le=4096, description="Of the longest passage")
    overlap_sentences: int = Field(
        1, ge=0, le=16, description="Sentences of the one before with which a passage begins"
    )


class IndexField(Request):
    """Whether every vector is compared with a query, or the nearest clusters only."""

    kind: IndexKind = Field(
        "auto",
        description="flat compares every vector; ivf looks at the nearest clusters; auto is flat "
        "up to 100,000 vectors and ivf above",
    )
    recall: float = Field(
        0.98,
        ge=0.5,
        le=0.999,
        description="Share of the true ten nearest that ivf is to find; more costs time",
    )


class CreateCorpusRequest(Request):
    """A corpus to make; every field may be left out, and the body too."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"metadata": {"owner": "library"}}, {"dimensions": 128}]}
    )

    model: ModelName = None
    dimensions: Width | None = Field(
        None, description="Width of the stored vectors; the model's own if left out"
    )
    metadata: dict[str, JsonValue] | None = Field(
        None, description="An object of your own, kept with the corpus"
    )
    passages: PassagesField | None = Field(
        None,
        description='How long documents are split, such as {"words": 128}; each passage has a '
        "vector of its own, and a hit says which matched. Left out, a document is one vector",
    )
    fields: dict[str, JsonValue] | None = Field(
        None,
        description='The metadata fields that documents may have, such as {"year": "integer"}: '
        "string, integer, number or boolean, of a value or of each element of a list. Left out, "
        "any field is taken",
    )
    index: IndexField | None = Field(
        None, description='How it is indexed, such as {"kind": "flat"}; chosen by size if left out'
    )


class ReencodeRequest(Request):
    """The model that a corpus is encoded with anew."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"dimensions": 128}]})

    model: ModelName = None
    dimensions: Width | None = Field(
        None, description="Width of the stored vectors; the model's own if left out"
    )


class UpsertRequest(Request):
    """Documents to insert, or to replace where their id is there."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "documents": [
                        {"id": "1", "text": "Ice floats on water.", "language": "en",
                         "metadata": {"topic": "science"}},
                        {"id": "2", "text": "La glace flotte sur l'eau.", "language": "fr"},
                    ]
                }
            ]
        }
    )  # fmt: skip

    documents: list[JsonValue] = Field(
        min_length=1,
        description="A list of objects with id and text, and maybe language, metadata, and a "
        "vector of the corpus' space: numbers, or base64 of little-endian float32",
    )
    model: ModelName = None
    space: str | None = Field(
        None, description="The space of the vectors that come along; checked where it is named"
    )


class DeleteRequest(Request):
    """Which documents to delete: exactly one of ids and filter."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"ids": ["1", "2"]}, {"filter": {"topic": "law"}}]}
    )

    ids: list[str] | None = Field(None, min_length=1, description="A list of ids")
    filter: dict[str, JsonValue] | None = Field(None, min_length=1, description=FILTER)

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        if (self.ids is None) == (self.filter is None):
            raise InputError(
                "Exactly one of ids and filter says which documents to delete.",
                field="ids",
                remedy='For example: {"ids": ["1", "2"]}',
            )
        return self


class DocumentAnswer(Answer):
    """A document, as it is stored."""

    id: str
    text: str
    language: str | None
    metadata: dict[str, JsonValue]


class CorpusAnswer(Answer):
    """A corpus, described."""

    name: str
    model: str = Field(description="The model that made its vectors")
    identity: str | None = Field(
        description="Of that model's files, as /models has it; null where a build made the corpus "
        "that did not write it down. Where it is another than that of the model which is served, "
        "encode the corpus anew"
    )
    space: str = Field(description="Any model of this vector space may query it")
    dimension: int
    documents: int
    languages: dict[str, int] = Field(
        description="Documents by language; und where it is not known"
    )
    index: str = Field(description="What it is now: flat or ivf; ivf is built in the background")
    index_policy: IndexField = Field(description="What was asked for")
    recall: float | None = Field(
        description="Share of the true ten nearest that was found when the index was built; "
        "null where the engine does not say"
    )
    created: str = Field(description="RFC 3339, UTC")
    bytes: int
    metadata: dict[str, JsonValue]
    passages: PassagesField | None
    fields: dict[str, str] | None = Field(
        description="The metadata fields it declares; null where it takes any"
    )


class CorporaAnswer(Answer):
    """All corpora."""

    corpora: list[CorpusAnswer]


class PageAnswer(Answer):
    """Some documents, and where to go on."""

    documents: list[DocumentAnswer]
    next_cursor: str | None = Field(description="For the next page; null after the last")


class BrokenLine(Answer):
    """A line of NDJSON that is no document."""

    line: int = Field(description="Counted from 1")
    detail: str
    field: str | None = None


class UpsertAnswer(Answer):
    """What an upsert did."""

    inserted: int
    updated: int
    truncated: int = Field(description="Documents of which only the beginning was embedded")
    failed: int = Field(description="Lines that are no documents; always 0 for JSON")
    errors: list[BrokenLine] = Field(description="The first hundred of them")


class DeleteAnswer(Answer):
    """What a delete did."""

    deleted: int
