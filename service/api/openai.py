"""POST /v1/embeddings and GET /v1/models: for clients that speak OpenAI's shape."""

from __future__ import annotations

import base64
import sys
from typing import Annotated

from fastapi import APIRouter, Depends

from service.api.body import json_body
from service.api.openapi import answer, body
from service.api.responses import Json
from service.api.schemas.openai import EmbeddingsAnswer, EmbeddingsRequest, OpenAIModels
from service.api.state import Loaded
from service.api.work import WorkOf
from service.inference.engine import EmbedOptions
from service.inference.session import Vectors

router = APIRouter(prefix="/v1", tags=["OpenAI"])


@router.post(
    "/embeddings",
    responses=answer(EmbeddingsAnswer, "The vectors, in the order of the input"),
    openapi_extra=body(EmbeddingsRequest),
)
async def create_embeddings(
    request: Annotated[EmbeddingsRequest, Depends(json_body(EmbeddingsRequest))], work: WorkOf
) -> Json:
    """Turn texts into vectors, in OpenAI's shape.

    Any `model` name is taken, since many clients cannot send another than OpenAI's; the answer
    names the model that was used.
    """
    resources = work.resources
    known = request.model if request.model in resources.encoders else None
    encoder = resources.encoder(known, language=request.language)
    embedded = await work.embed(
        encoder,
        request.input,
        EmbedOptions(language=request.language, dimensions=request.dimensions, normalize=True),
        field="input",
    )
    rows = _base64(embedded.vectors) if request.encoding_format == "base64" else embedded.vectors
    tokens = sum(embedded.tokens)
    usage: dict[str, object] = {"prompt_tokens": tokens, "total_tokens": tokens}
    if embedded.truncated:
        usage["truncated"] = embedded.truncated
    return Json(
        {
            "object": "list",
            "data": [
                {"object": "embedding", "index": index, "embedding": row}
                for index, row in enumerate(rows)
            ],
            "model": encoder.name,
            "usage": usage,
        }
    )


@router.get("/models", responses=answer(OpenAIModels, "All loaded models"))
async def list_openai_models(resources: Loaded) -> Json:
    """List the loaded models, in OpenAI's shape."""
    return Json(
        {
            "object": "list",
            "data": [
                {"id": name, "object": "model", "created": 0, "owned_by": "interlingua"}
                for name in resources.encoders
            ],
        }
    )


def _base64(vectors: Vectors) -> list[str]:
    # OpenAI's clients read the bytes as little-endian float32.
    rows = vectors if sys.byteorder == "little" else vectors.astype("<f4")
    return [base64.b64encode(row.tobytes()).decode("ascii") for row in rows]
