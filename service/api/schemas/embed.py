"""Bodies of /embed and /similarity: text-embeddings-inference's, and two fields of ours."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, AliasChoices, ConfigDict, Field, WithJsonSchema

from service.api.schemas.parts import LanguageCode, ModelName, Request, Texts, Width
from service.api.schemas.splitting import DocumentFields
from service.errors import InputError
from service.inference.formats import Format
from service.text.tokenizer import Side

_SIDES: dict[str, Side] = {"right": "right", "left": "left"}


def _known_side(value: str) -> str:
    if value.lower() not in _SIDES:
        raise InputError(
            "A text is cut on the Right or on the Left.",
            field="truncation_direction",
            given=value,
        )
    return value.lower()


Direction = Annotated[
    str,
    AfterValidator(_known_side),
    WithJsonSchema({"type": "string", "enum": ["Right", "Left"]}),
]


class Truncation(Request):
    """What becomes of texts that are too long."""

    truncate: bool | None = Field(
        None, description="Whether texts longer than the model's limit are cut; if not, they are "
        "refused. Cut by default, and said in x-truncated",
    )  # fmt: skip
    truncation_direction: Direction = Field(
        "Right", validate_default=True, description="The end that is cut off: Right or Left"
    )

    @property
    def cut(self) -> Side:
        """The end that is cut off."""
        return _SIDES[self.truncation_direction]


class Cutting(Truncation):
    """How texts are prepared; what /embed and /similarity have in common."""

    prompt_name: str | None = Field(
        None, description="One of the model's prompts, put before each text (GET /models)"
    )


Precision = Annotated[
    Format | None,
    Field(
        description="Of the numbers: float32, float16, int8 (each vector scaled to its largest), "
        "ubinary (signs, packed into bytes) or binary (these as signed bytes); float32 if left out"
    ),
]

Encoding = Annotated[
    Literal["float", "base64"] | None,
    Field(
        description="float for lists of numbers, base64 for their little-endian bytes; float if "
        "left out"
    ),
]


class EmbedRequest(Cutting, DocumentFields):
    """Texts to turn into vectors."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"inputs": ["Where is the station?", "Wo ist der Bahnhof?"]},
                {"inputs": "¿Dónde está la estación?", "dimensions": 64},
            ]
        }
    )

    inputs: Texts = Field(
        validation_alias=AliasChoices("inputs", "texts"), description="A text, or a list of texts"
    )
    model: ModelName = None
    language: LanguageCode = None
    normalize: bool | None = Field(
        None, description="Whether vectors are scaled to length 1; they are if left out"
    )  # fmt: skip
    dimensions: Width | None = Field(
        None, description="Keep only the first so many dimensions of each vector"
    )
    precision: Precision = None
    encoding_format: Encoding = None


class SimilarityInputs(Request):
    """One text and those it is compared with."""

    source_sentence: str = Field(description="The text that the others are compared with")
    sentences: list[str] = Field(min_length=1, description="A list of texts")


class SimilarityRequest(Request):
    """Texts to compare."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "inputs": {
                        "source_sentence": "Where is the station?",
                        "sentences": ["Wo ist der Bahnhof?", "Il pleut."],
                    }
                }
            ]
        }
    )

    inputs: SimilarityInputs = Field(description="An object with source_sentence and sentences")
    parameters: Cutting | None = Field(
        None, description="truncate, truncation_direction and prompt_name, as in /embed"
    )
    model: ModelName = None
    language: LanguageCode = None
