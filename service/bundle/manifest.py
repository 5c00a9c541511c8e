"""The schema of `bundle.json`: what a model is, how it is run, where it comes from.

The manifest is read from disk, so it is input like a request's body: pydantic checks it, and
whatever does not fit is refused with the field's name.
"""

from __future__ import annotations

import hashlib
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

SHARED = "*"
"""Key of `encoders` for the one that serves every language."""

IMPORTED = "import"
"""Name of the recipe of models that were made elsewhere."""

UNKNOWN_LANGUAGE = "und"
"""Stands for "not said" among a bundle's languages; such a model takes every language."""

LONGEST_INPUT = 65536
"""Tokens that a model may say it takes at most."""

FileName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=128)]
"""A plain name inside the bundle: no folders, so no path can lead out of it."""

Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]*$", max_length=64)]
Language = Annotated[str, Field(pattern=r"^[a-z]{2,3}(-[a-z0-9]+)*$", max_length=16)]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class Part(BaseModel):
    """Base of the manifest's parts: immutable, and a field nobody knows is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class FileEntry(Part):
    """One file of the bundle, as it was written."""

    sha256: Sha256
    bytes: int = Field(ge=0)


class Numbering(Part):
    """How a model numbers the pieces of its SentencePiece file, where not by their own numbers.

    A text's ids are `before`, the pieces' numbers plus `offset`, and `after`.
    """

    offset: int = 0
    unknown: int | None = Field(default=None, description="Id of an unknown piece; its own if None")
    before: tuple[int, ...] = ()
    after: tuple[int, ...] = ()


class TokenizerEntry(Part):
    """How text becomes token ids.

    `sentencepiece`: a SentencePiece model file. `huggingface`: a `tokenizer.json`.
    `vocabulary`: a JSON vocabulary of words, or of words and character n-grams.
    """

    kind: Literal["sentencepiece", "huggingface", "vocabulary"]
    file: FileName
    numbering: Numbering | None = None
    padding: int | None = Field(
        default=None, ge=0, description="Id of the pad; what the file says if None"
    )

    @model_validator(mode="before")
    @classmethod
    def _without_beside(cls, given: object) -> object:
        """Bundles of earlier builds say that they have no second vocabulary beside the first."""
        if isinstance(given, dict) and "beside" in given and given["beside"] is None:
            return {name: value for name, value in given.items() if name != "beside"}
        return given


Pooling = Literal["mean", "cls", "max", "last"]
"""One vector of many: their mean, the first token's, the greatest of each number, the last's."""


class Projection(Part):
    """A dense layer after pooling: activation(weight x + bias).

    The file is safetensors: `weight` float32 [out, in] and, where there is one, `bias` [out].
    """

    file: FileName
    activation: Literal["identity", "tanh"]
    of_unit: bool = Field(default=False, description="Whether x is scaled to length 1 first")


class EncoderEntry(Part):
    """One ONNX graph and the tokenizer that feeds it.

    The graph takes `ids` and `mask` (or Hugging Face's names for them), int64 [batch, tokens], and
    gives float32 [batch, dimension]: pooled, not normalised. A graph of token vectors,
    [batch, tokens, width], has its `pooling` named here, and the service does that.
    """

    graph: FileName
    tokenizer: TokenizerEntry
    pooling: Pooling | None = Field(
        default=None, description="What the service does to token vectors; None: the graph pools"
    )
    projections: tuple[Projection, ...] = ()
    include_prompt: bool = Field(
        default=True,
        description="Whether a prompt's tokens are pooled with the text's; if not, which is not "
        "done here, texts are taken without prompts only",
    )

    @property
    def needed_files(self) -> tuple[FileName, ...]:
        """The files without which it cannot run."""
        return (self.graph, self.tokenizer.file, *(layer.file for layer in self.projections))


class Recipe(Part):
    """How the model was made."""

    name: str
    scale: str
    parameters: dict[str, str | int | float | bool | None] = {}
    seconds: float | None = None
    machine: str | None = None


class DataSource(Part):
    """One source of training text and what it obliges us to say."""

    name: str
    licence: str
    attribution: str
    sentence_pairs: int = Field(ge=0)


class Measurement(Part):
    """One measured figure of quality, with the command that gives it again."""

    protocol: str
    dataset: str
    metric: str
    value: float
    by_language: dict[str, float] = {}
    command: str
    machine: str


class Manifest(Part):
    """The whole of `bundle.json` for an encoder."""

    schema_version: Literal[1] = 1
    kind: Literal["encoder"] = "encoder"
    name: Name
    family: str = Field(description="The system it is an instance of: static, transformer, lstm …")
    description: str = ""
    space: Name = Field(
        description="The vector space: bundles that name the same one may be mixed in a search"
    )
    dimension: int = Field(ge=1, le=8192)
    matryoshka_dimensions: tuple[int, ...] = ()
    languages: tuple[Language, ...] = Field(min_length=1)
    max_tokens: int = Field(ge=1, le=LONGEST_INPUT)
    pooling: str
    normalised: bool = Field(
        default=True, description="Whether the service scales vectors to length 1 by default"
    )
    prompts: dict[str, str] = {}
    default_prompt: str | None = Field(
        default=None, description="The prompt put before texts where none is named"
    )
    encoders: dict[str, EncoderEntry] = Field(min_length=1)
    precision: str = Field(description="Of the stored weights: fp32, int8, int4 …")
    files: dict[FileName, FileEntry]
    recipe: Recipe
    data: tuple[DataSource, ...] = ()
    quality: tuple[Measurement, ...] = ()
    limits: tuple[str, ...] = Field(default=(), description="What it cannot do, for the card")
    licence: str

    @model_validator(mode="after")
    def _parts_agree(self) -> Manifest:
        for language, encoder in self.encoders.items():
            if language != SHARED and language not in self.languages:
                raise ValueError(f"encoders: {language!r} is not among languages")
            for file in encoder.needed_files:
                if file not in self.files:
                    raise ValueError(f"encoders.{language}: {file!r} is not among files")
        if any(d > self.dimension or d < 1 for d in self.matryoshka_dimensions):
            raise ValueError(f"matryoshka_dimensions: must lie in 1..{self.dimension}")
        if any(self.prompts.values()) and not self.pools_prompts:
            raise ValueError("prompts: include_prompt is false of an encoder")
        if self.default_prompt is not None and self.default_prompt not in self.prompts:
            raise ValueError(f"default_prompt: {self.default_prompt!r} is not among prompts")
        return self

    @property
    def looks_up(self) -> bool:
        """Whether its graphs look vectors up and add them, and multiply by no matrix."""
        return self.family in ("static", "additive")

    @property
    def pools_prompts(self) -> bool:
        """Whether texts may have a prompt before them."""
        return all(encoder.include_prompt for encoder in self.encoders.values())

    @property
    def identity(self) -> str:
        """Sixteen hex digits of the hash over all files: the same weights, the same identity."""
        digest = hashlib.sha256()
        for name in sorted(self.files):
            digest.update(f"{name} {self.files[name].sha256}\n".encode())
        return digest.hexdigest()[:16]
