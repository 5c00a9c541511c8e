"""Bodies and answers of /classifiers."""

from __future__ import annotations

import math
from typing import Annotated, Literal

from pydantic import BeforeValidator, ConfigDict, Field, JsonValue

from service.api.schemas.classify import Labels
from service.api.schemas.parts import Answer, ModelName, Request
from service.api.schemas.splitting import DocumentFields
from service.classification.report import Report
from service.errors import InputError
from service.inference.documents import DocumentOptions


class CorpusExamples(Request):
    """Examples that are documents of a corpus already."""

    name: str = Field(description="The corpus (GET /corpora)")
    label_field: str = Field(
        description="The metadata field that holds the label, or with multi_label a list of them; "
        "documents without one are left out"
    )
    group_field: str | None = Field(
        None, description="The metadata field that documents have in common which say the same, "
        "such as translations: they are held out together"
    )  # fmt: skip


def _weights(value: object) -> object:
    # All that the union below would refuse, as pydantic's errors name its branch as the field.
    if isinstance(value, dict):
        for label, weight in value.items():
            number = isinstance(weight, int | float) and not isinstance(weight, bool)
            if not (number and 0 < weight < math.inf):
                raise InputError(
                    "A weight is a number above 0.", field=f"class_weights.{label}", given=weight
                )
    elif value not in ("none", "balanced"):
        raise InputError(
            "Weights are none, balanced, or an object with a number for each label.",
            field="class_weights",
            given=value,
        )
    return value


ClassWeights = Annotated[
    Literal["none", "balanced"] | dict[str, Annotated[float, Field(gt=0)]],
    BeforeValidator(_weights),
]


class FitRequest(DocumentFields):
    """What a classifier shall be fitted on, and how."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "examples": [
                        {"text": "The match was a draw.", "label": "sport", "language": "en"},
                        {"text": "Fans filled the stadium.", "label": "sport"},
                        {"text": "The court found him guilty.", "label": "law"},
                        {"text": "A judge signed the order.", "label": "law"},
                    ]
                },
                {"labels": {"sport": "football, athletes, matches", "law": "courts, judges"}},
            ]
        }
    )

    examples: list[JsonValue] | None = Field(
        None,
        description='A list of {"text", "label", "language"?}; {"text", "text_pair", "label"} for '
        'pairs; {"text", "labels": [...]} where a text may have several. Texts that say the same, '
        'such as translations, get the same "group": it is held out whole',
    )
    labels: Labels | None = Field(
        None,
        description="Words that describe labels, which do in place of examples or beside them",
    )
    corpus: CorpusExamples | None = Field(
        None, description="In place of examples: documents of a corpus with a label among their "
        "metadata",
    )  # fmt: skip
    model: ModelName = None
    description: str = Field("", max_length=1000, description="For people")
    regularisation: Annotated[float, Field(gt=0, le=1e6)] | None = Field(
        None, description="Strength of the pull of the weights towards zero (or the labels' "
        "descriptions); chosen by cross-validation if left out",
    )  # fmt: skip
    class_weights: ClassWeights = Field(
        "none", description="What an example counts: none (all the same), balanced (each label the "
        "same in all), or a number for each label",
    )  # fmt: skip
    unknown_threshold: Annotated[float, Field(gt=0, lt=1)] | None = Field(
        None, description="Answer unknown where no label is as probable as this; above 1 divided "
        "by the number of labels, unless a text may have several",
    )  # fmt: skip
    multi_label: bool = Field(False, description="Whether a text may have several labels, or none")
    contradictions: Literal["refuse", "drop", "keep"] = Field(
        "refuse", description="What to do with a text that stands there with different labels"
    )


class ClassifierAnswer(Answer):
    """A classifier, described."""

    name: str
    version: int
    versions: list[int] = Field(description="Those that are kept; the current one among them")
    shipped: bool = Field(description="Whether it came with the service, and is not changed here")
    description: str
    labels: list[str]
    kind: Literal["text", "pair"] = Field(description="What it classifies")
    multi_label: bool
    unknown_threshold: float | None
    space: str = Field(description="Any model of this vector space may feed it")
    encoder: dict[str, str] = Field(description="The model it was fitted on: name, identity")
    dimension: int
    document: DocumentOptions | None = Field(description="How texts are split, if they are")
    examples: int = Field(description="How many it was fitted on")
    by_label: dict[str, int]
    described: list[str] = Field(description="Labels that were described in words")
    report: Report | None = Field(description="Held-out figures")
    quality: list[dict[str, JsonValue]]
    limits: list[str]
    licence: str
    created: str | None


class ClassifiersAnswer(Answer):
    """All classifiers."""

    classifiers: list[ClassifierAnswer]
