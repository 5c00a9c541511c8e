"""Body and answer of /similar."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import BeforeValidator, ConfigDict, Field, JsonValue, WithJsonSchema, model_validator

from service.api.schemas.parts import Answer, LanguageCode, ModelName, Request, Texts
from service.api.schemas.splitting import DocumentFields
from service.errors import InputError
from service.search.query import MAX_DEPTH

MAX_HITS = 1000
MAX_NEIGHBOURS = 256 * MAX_HITS
"""Of all queries of a request together: as many hits take about 0.2 GB until they are sent."""


def _one_or_many_vectors(value: object) -> object:
    flat = isinstance(value, list) and bool(value) and isinstance(value[0], int | float)
    return [value] if flat else value


VectorRows = Annotated[
    list[list[float]],
    BeforeValidator(_one_or_many_vectors),
    Field(min_length=1),
    WithJsonSchema({"type": "array", "items": {"type": "array", "items": {"type": "number"}}}),
]

CONDITIONS = (
    '{"topic": "law"}, {"topic": {"in": ["law", "health"]}}, {"topic": null} (has none), '
    '{"year": {"gte": 1990, "lt": 2000}} (gt, gte, lt, lte), and of these '
    '{"and": [...]}, {"or": [...]}, {"not": {...}}'
)
FILTER = f"Only documents whose metadata meets these conditions: {CONDITIONS}"


class GroupField(Request):
    """What makes hits a group: exactly one of score and field."""

    score: float | None = Field(
        None, ge=-1, le=1,
        description="Documents of at least this cosine with the group's best hit: translations "
        "and near-duplicates",
    )  # fmt: skip
    field: str | None = Field(
        None, description="Documents with the same value in this metadata field"
    )


class SimilarRequest(DocumentFields):
    """What to look for: exactly one of inputs, ids and vectors."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"inputs": "Warum schwimmt Eis?", "k": 3},
                {"corpus": "demo", "inputs": ["Pourquoi la glace flotte-t-elle ?"],
                 "k": 5, "languages": ["en", "ja"], "min_score": 0.3},
            ]
        }
    )  # fmt: skip

    corpus: str | None = Field(
        None, description="Where to look (GET /corpora); demo, or the only corpus, if left out"
    )
    inputs: Texts | None = Field(None, description="A text, or a list of texts")
    ids: list[str] | None = Field(
        None, min_length=1,
        description="A list of ids of documents of the corpus, whose neighbours are wanted",
    )  # fmt: skip
    vectors: VectorRows | None = Field(
        None, description="A list of vectors of the corpus' space and width"
    )
    k: int = Field(
        10, ge=1, le=MAX_HITS,
        description=f"Hits for each input, 1 to {MAX_HITS}; inputs times offset + k may be "
        f"{MAX_NEIGHBOURS:,}, with group or margin a quarter of that",
    )  # fmt: skip
    languages: list[str] | None = Field(
        None, min_length=1, description="A list of language codes; only documents in one of them"
    )
    filter: dict[str, JsonValue] | None = Field(None, description=FILTER)
    min_score: float | None = Field(
        None, ge=-1, le=1, description="Only hits of at least this cosine, -1 to 1"
    )
    offset: int = Field(
        0,
        ge=0,
        description="So many of the best are left out: for the pages after the first; "
        f"offset + k may be {MAX_DEPTH:,}",
    )
    fields: list[str] | None = Field(
        None, min_length=1,
        description="A list of what a hit shows: id, text, language, score, metadata, "
        "metadata.NAME, passage, margin, group; all of it if left out",
    )  # fmt: skip
    group: GroupField | None = Field(
        None,
        description='One hit for what is said several times: {"score": 0.8} or {"field": "work"}',
    )
    margin: bool = Field(
        False,
        description="Order the nearest by margin score (Artetxe & Schwenk 2019) instead of cosine",
    )
    model: ModelName = None
    language: LanguageCode = None

    @model_validator(mode="after")
    def _exactly_one_query(self) -> Self:
        given = [n for n in ("inputs", "ids", "vectors") if getattr(self, n) is not None]
        if len(given) != 1:
            raise InputError(
                "Exactly one of inputs, ids and vectors says what to look for.",
                field=given[1] if given else "inputs",
                given=given or None,
                remedy='For example: {"inputs": "Warum schwimmt Eis?"}',
            )
        return self


class PassageAnswer(Answer):
    """A part of a text."""

    text: str
    start: int = Field(description="Its first character")
    end: int = Field(description="The character after its last")


class MemberAnswer(Answer):
    """A hit that another stands for."""

    id: str
    language: str | None
    score: float


class GroupAnswer(Answer):
    """The others of a hit's group."""

    languages: list[str] = Field(description="Of all of the group")
    members: list[MemberAnswer] = Field(description="Best first")


class HitAnswer(Answer):
    """One neighbour."""

    id: str
    text: str
    language: str | None
    score: float = Field(description="Cosine of the two vectors, -1 to 1")
    metadata: dict[str, JsonValue]
    passage: PassageAnswer | None = Field(
        None, description="The part that matched; absent where the document is one vector"
    )
    margin: float | None = Field(None, description="Where hits are ordered by it")
    group: GroupAnswer | None = Field(None, description="Where there are others of its group")
