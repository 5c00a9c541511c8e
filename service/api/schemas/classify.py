"""Bodies and answers of /classify and /predict."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import BeforeValidator, ConfigDict, Field, JsonValue, WithJsonSchema, model_validator

from service.api.schemas.embed import Truncation
from service.api.schemas.parts import Answer, LanguageCode, ModelName
from service.api.schemas.splitting import DocumentFields
from service.errors import InputError, MalformedError

MAX_EXPLAINED = 16
"""Inputs of one request that are explained: each costs as many vectors as it has words."""


def _texts_or_pairs(value: object) -> object:
    # All that the union below would refuse, as pydantic's errors name its branch as the field.
    if isinstance(value, str):
        return [value]
    if not isinstance(value, list):
        raise MalformedError(
            "A text is due, or a list of texts or of pairs.", field="inputs", given=value
        )
    for position, item in enumerate(value):
        pair = isinstance(item, list) and len(item) == 2
        if not isinstance(item, str) and not (pair and all(isinstance(i, str) for i in item)):
            raise MalformedError(
                "An input is a text, or a pair: a list of two texts.",
                field=f"inputs[{position}]",
                given=item,
            )
        if type(item) is not type(value[0]):
            raise MalformedError(
                "All inputs are texts, or all are pairs.", field=f"inputs[{position}]", given=item
            )
    return value


TextsOrPairs = Annotated[
    list[str] | list[list[str]],
    BeforeValidator(_texts_or_pairs),
    Field(min_length=1),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string"},
                {"type": "array", "items": {"type": "string"}, "minItems": 1},
                {
                    "type": "array",
                    "minItems": 1,
                    "items": {
                        "type": "array",
                        "items": {"type": "string"},
                        "minItems": 2,
                        "maxItems": 2,
                    },
                },
            ]
        }
    ),
]
"""One text, a list of texts, or a list of pairs; always a list once it is read."""


def _described(value: object) -> object:
    return dict.fromkeys(value, "") if isinstance(value, list) and value and all(
        isinstance(label, str) for label in value
    ) else value  # fmt: skip


Labels = Annotated[
    dict[str, str],
    BeforeValidator(_described),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "object", "additionalProperties": {"type": "string"}},
                {"type": "array", "items": {"type": "string"}, "minItems": 2},
            ]
        }
    ),
]
"""Label -> words that describe it; a list of labels describes them by their names alone."""


class ClassifyRequest(DocumentFields):
    """Texts to classify."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"classifier": "topic", "inputs": ["Il sole è una stella."], "top_k": 3},
                {
                    "labels": {"sport": "football, athletes, matches", "law": "courts, judges"},
                    "inputs": "Die Mannschaft gewann das Endspiel.",
                },
            ]
        }
    )

    classifier: str | None = Field(
        None, description="Which one (GET /classifiers); topic, or the first, if left out"
    )
    labels: Labels | None = Field(
        None,
        description="Labels described in words, in place of a classifier: no example is needed and "
        "nothing is stored",
    )
    inputs: TextsOrPairs = Field(
        description="A text, or a list of texts; or a list of pairs, for classifiers of pairs"
    )
    top_k: int | None = Field(
        None, ge=1, description="How many labels to give for each text; all if left out"
    )
    explain: bool = Field(
        False,
        description="Whether to say which words (of a document: sentences) moved the score most, "
        f"and which labelled examples are nearest; for at most {MAX_EXPLAINED} inputs",
    )
    model: ModelName = None
    language: LanguageCode = None

    @model_validator(mode="after")
    def _one_source_of_labels(self) -> Self:
        if self.labels is not None and self.classifier is not None:
            raise InputError(
                "Labels are those of a classifier, or described here: not both.",
                field="labels",
                given=self.classifier,
                remedy="Leave one of classifier and labels out.",
            )
        if self.labels is not None and len(self.labels) < 2:
            raise InputError("Two labels are the least.", field="labels", given=self.labels)
        return self


class PredictRequest(Truncation):
    """The same as text-embeddings-inference has it: one text, or a list of one-text lists."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"inputs": "Das Konzert beginnt um acht."},
                {"inputs": [["One."], ["Two."]]},
            ]
        }
    )

    inputs: JsonValue = Field(
        description='A text, or a list of lists of one text each: [["One."], ["Two."]]; with a '
        "classifier of pairs, lists of two"
    )
    raw_scores: bool = Field(False, description="Not available: scores are probabilities")
    classifier: str | None = Field(None, description="Which one; topic, or the first, if left out")


class ScoredLabel(Answer):
    """A label, and how sure the classifier is of it."""

    label: str
    score: float = Field(description="Probability, 0 to 1")


class PartAnswer(Answer):
    """A part of the input, and what it did."""

    text: str
    start: int = Field(description="Its first character in the input")
    end: int
    effect: float = Field(description="The label's probability, less what it is without the part")
    of_pair: int | None = Field(None, description="Of a pair, which text it is in: 0 or 1")


class NearestExample(Answer):
    """A labelled example that is near to the input."""

    text: str
    text_pair: str | None = None
    labels: list[str]
    language: str | None
    score: float = Field(description="Cosine with the input")


class Explanation(Answer):
    """Why a label was given."""

    label: str = Field(description="The likeliest label, which is explained")
    parts: list[PartAnswer] = Field(description="The strongest first")
    examples: list[NearestExample] = Field(
        description="The nearest first; none where the classifier keeps no examples, or those of a "
        "corpus that the key may not read"
    )


class ExplainedAnswer(Answer):
    """The labels of an input, explained."""

    labels: list[ScoredLabel]
    explanation: Explanation
