"""The schema of `head.json`: what a classifier says, and whose vectors it understands."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, field_validator

from service.bundle.manifest import DataSource, FileEntry, FileName, Measurement, Name, Part

Label = Annotated[str, Field(min_length=1, max_length=256)]


class FittedOn(Part):
    """The encoder whose vectors a head was fitted on."""

    name: Name
    identity: str = Field(pattern=r"^[0-9a-f]{16}$", description="`Manifest.identity` of it")


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
    features: Literal["vector"] = Field(
        default="vector", description="What the weights multiply: the vector of one text"
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

    @field_validator("labels")
    @classmethod
    def _labels_differ(cls, labels: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(labels)) != len(labels):
            raise ValueError("a label stands twice")
        return labels
