"""Body and answer of /projection."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field

from service.api.schemas.parts import Answer, LanguageCode, ModelName, Request, Texts

MAX_POINTS = 500
MAX_MATRIX = 120


class ProjectionRequest(Request):
    """Texts to look at together."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"inputs": ["Ice floats.", "Eis schwimmt.", "La glace flotte.", "She sings well."]}
            ]
        }
    )

    inputs: Texts = Field(description=f"A list of at most {MAX_POINTS} texts")
    method: Literal["auto", "pca", "tsne"] = Field(
        "auto",
        description="pca: the two directions in which they differ most. tsne: who is near whom. "
        "auto: tsne from 8 texts on",
    )
    perplexity: float | None = Field(
        None, ge=1, le=100, description="t-SNE: about how many neighbours count; 30 at most if "
        "left out, fewer for few texts",
    )  # fmt: skip
    model: ModelName = None
    language: LanguageCode = None


class ProjectionAnswer(Answer):
    """The texts on a plane, and how near they are in truth."""

    method: str = Field(description="pca or tsne")
    points: list[list[float]] = Field(description="Of each text, from -1 to 1")
    languages: list[str | None] = Field(description="Of each text, as named or as detected")
    explained: float | None = Field(
        description="pca: share of the variance that the plane shows, 0 to 1"
    )
    cosines: list[list[float]] | None = Field(
        description=f"Of each text with each; null above {MAX_MATRIX} texts"
    )
