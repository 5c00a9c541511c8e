"""The schema of `head.json`: what a classifier says, and whose vectors it understands."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, field_validator

from service.bundle.manifest import DataSource, FileEntry, FileName, Measurement, Name, Part
from service.classification.report import Report
from service.inference.documents import DocumentOptions

Label = Annotated[str, Field(min_length=1, max_length=256)]


PAIR_PARTS = 4
"""u, v, |u - v| and u * v."""


class FittedOn(Part):
    """The encoder whose vectors a head was fitted on."""

    name: Name
    identity: str = Field(pattern=r"^[0-9a-f]{16}$", description="`Manifest.identity` of it")


class ExamplesFrom(Part):
    """Whose texts the examples are that are kept beside a head."""

    corpus: str | None = Field(
        default=None, description="The corpus they are documents of; None where they were sent"
    )


class HeadManifest(Part):
    """The whole of `head.json`."""

    schema_version: Literal[1] = 1
    kind: Literal["head"] = "head"
    name: Name
    description: str = ""
    labels: tuple[Label, ...] = Field(min_length=2)
    space: Name = Field(description="Any encoder of this vector space may feed it")
    encoder: FittedOn
    dimension: int = Field(ge=1, le=8192)
    features: Literal["vector", "pair"] = Field(
        default="vector",
        description="What the weights multiply: the vector of one text, or of a pair of texts "
        "(u, v, |u - v|, u * v)",
    )
    multi_label: bool = Field(
        default=False, description="Whether a text may have several labels: one sigmoid a label"
    )
    unknown_threshold: float | None = Field(
        default=None,
        gt=0,
        lt=1,
        description="The answer is `unknown` where no label is as probable as this",
    )
    document: DocumentOptions | None = Field(
        default=None, description="How texts are split and pooled; None takes each as one"
    )
    version: int = Field(default=1, ge=1)
    created: str | None = Field(default=None, description="When it was fitted, ISO 8601")
    examples: int = Field(default=0, ge=0, description="How many it was fitted on")
    examples_from: ExamplesFrom | None = Field(
        default=None,
        description="Of those that are kept; None where none are, or nobody wrote it down",
    )
    by_label: dict[Label, int] = Field(
        default_factory=dict, description="How many examples of each label it was fitted on"
    )
    described: tuple[Label, ...] = Field(
        default=(), description="Labels that were described in words"
    )
    report: Report | None = Field(
        default=None, description="Held-out figures; none where there was no example"
    )
    temperature: float = Field(
        default=1.0,
        gt=0,
        allow_inf_nan=False,
        description="Logits are divided by it, so that probabilities are calibrated "
        "(Guo et al. 2017, On Calibration of Modern Neural Networks, section 4.2)",
    )
    quality: tuple[Measurement, ...] = ()
    data: tuple[DataSource, ...] = Field(
        default=(), description="`sentence_pairs` counts pairs of a sentence and its label"
    )
    limits: tuple[str, ...] = ()
    licence: str
    files: dict[FileName, FileEntry] = Field(default_factory=dict)

    @property
    def width(self) -> int:
        """How many numbers the weights of one label are."""
        return self.dimension * (PAIR_PARTS if self.features == "pair" else 1)

    @field_validator("labels")
    @classmethod
    def _labels_differ(cls, labels: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(labels)) != len(labels):
            raise ValueError("a label stands twice")
        return labels
