"""A head: labels and weights that turn vectors of one space into probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import Field

from service.bundle.manifest import DataSource, FileEntry, FileName, Measurement, Name, Part
from service.inference.session import Vectors


class FittedOn(Part):
    """The encoder whose vectors a head was fitted on."""

    name: Name
    identity: str = Field(pattern=r"^[0-9a-f]{16}$", description="`Manifest.identity`")


class HeadManifest(Part):
    """The whole of `head.json`."""

    schema_version: Literal[1] = 1
    kind: Literal["head"] = "head"
    name: Name
    description: str = ""
    labels: tuple[str, ...] = Field(min_length=2)
    space: Name
    encoder: FittedOn
    dimension: int = Field(ge=1, le=8192)
    features: Literal["vector"] = "vector"
    temperature: float = Field(default=1.0, gt=0, description="Logits are divided by it")
    quality: tuple[Measurement, ...] = ()
    data: tuple[DataSource, ...] = ()
    limits: tuple[str, ...] = ()
    licence: str
    files: dict[FileName, FileEntry] = {}


@dataclass(frozen=True, slots=True)
class Head:
    """A head, loaded: float32 weights [labels, dimension], bias [labels]."""

    manifest: HeadManifest
    weights: Vectors
    bias: Vectors

    @property
    def name(self) -> str:
        """Its name."""
        return self.manifest.name

    @property
    def labels(self) -> tuple[str, ...]:
        """Its labels, in the order of `predict`'s columns."""
        return self.manifest.labels

    def require_space(self, space: str, *, model: str) -> None:
        """Raise ConflictError unless vectors of `space`, made by `model`, fit this head."""
        raise NotImplementedError

    def predict(self, vectors: Vectors) -> Vectors:
        """Return probabilities, float32 [batch, labels]; each row sums to 1."""
        raise NotImplementedError


def write_head(directory: Path, manifest: HeadManifest, *, weights: Vectors, bias: Vectors) -> Head:
    """Write a head bundle, replacing what was there; `manifest.files` is filled in."""
    raise NotImplementedError


def read_head(directory: Path) -> Head:
    """Read a head bundle, or raise BundleError."""
    raise NotImplementedError
