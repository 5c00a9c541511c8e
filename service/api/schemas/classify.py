"""Bodies and answers of /classify, /predict and /classifiers."""

from __future__ import annotations

from pydantic import ConfigDict, Field, JsonValue

from service.api.schemas.parts import Answer, LanguageCode, ModelName, Request, Texts


class ClassifyRequest(Request):
    """Texts to classify."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"classifier": "topics", "inputs": ["Il sole è una stella."], "top_k": 3}]
        }
    )

    classifier: str | None = Field(
        None, description="Which one (GET /classifiers); the first of them if left out"
    )
    inputs: Texts = Field(description="A text, or a list of texts")
    top_k: int | None = Field(
        None, ge=1, description="How many labels to give for each text; all if left out"
    )
    model: ModelName = None
    language: LanguageCode = None


class PredictRequest(Request):
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
        description='A text, or a list of lists of one text each: [["One."], ["Two."]]'
    )
    truncate: bool | None = Field(None, description="Whether texts that are too long are cut")
    raw_scores: bool = Field(False, description="Not available: scores are probabilities")
    classifier: str | None = Field(None, description="Which one; the first if left out")


class ScoredLabel(Answer):
    """A label, and how sure the classifier is of it."""

    label: str
    score: float = Field(description="Probability, 0 to 1")


class ClassifierAnswer(Answer):
    """A classifier, described."""

    name: str
    description: str
    labels: list[str]
    space: str = Field(description="Any model of this vector space may feed it")
    encoder: dict[str, str] = Field(description="The model it was fitted on: name, identity")
    dimension: int
    quality: list[dict[str, JsonValue]]
    limits: list[str]
    licence: str


class ClassifiersAnswer(Answer):
    """All classifiers."""

    classifiers: list[ClassifierAnswer]
