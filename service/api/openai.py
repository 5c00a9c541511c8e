"""POST /v1/embeddings and GET /v1/models: for clients that speak OpenAI's shape."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Depends

from service.api.auth import needs, needs_any_key
from service.api.body import json_body
from service.api.negotiation import rows
from service.api.openapi import answer, body
from service.api.responses import Json
from service.api.schemas.openai import (
    EmbeddingsAnswer,
    EmbeddingsRequest,
    OpenAIModel,
    OpenAIModels,
)
from service.api.state import Loaded, Resources, require_language
from service.api.work import WorkOf
from service.inference.encoder import Encoder
from service.inference.formats import Formatted, to_format
from service.inference.request import Embedded, EmbedOptions
from service.security.grants import Scope

router = APIRouter(tags=["OpenAI"])

_VECTORS = answer(EmbeddingsAnswer, "The vectors, in the order of the input")


@router.post("/v1/embeddings", responses=_VECTORS, openapi_extra=body(EmbeddingsRequest))
@router.post("/embeddings", include_in_schema=False)
@needs(Scope.EMBED)
async def create_embeddings(
    request: Annotated[EmbeddingsRequest, Depends(json_body(EmbeddingsRequest))], work: WorkOf
) -> Json:
    """Turn texts into vectors, in OpenAI's shape.

    Any `model` name is taken, since many clients cannot send another than OpenAI's; the answer
    names the model that was used.
    """
    resources = work.resources
    encoder = require_language(model_among(resources, request.model), request.language)
    embedded = await work.embed(
        encoder,
        request.input,
        EmbedOptions(language=request.language, dimensions=request.dimensions, normalize=True),
        field="input",
    )
    vectors = to_format(embedded.vectors, request.precision or "float32")
    encoding = request.encoding_format
    return Json(embeddings_object(embedded, vectors, model=encoder.name, encoding=encoding))


def model_among(resources: Resources, name: str | None) -> Encoder:
    """Return the encoder called `name`, or the default where there is none of that name."""
    return resources.encoders.get(name or "", resources.default_encoder)


def embeddings_object(
    embedded: Embedded,
    vectors: Formatted,
    *,
    model: str,
    encoding: Literal["float", "base64"] | None,
) -> dict[str, object]:
    """Return OpenAI's answer: `vectors`, those of `embedded` in the format that was asked for."""
    tokens = sum(embedded.tokens)
    usage: dict[str, object] = {"prompt_tokens": tokens, "total_tokens": tokens}
    if embedded.truncated:
        usage["truncated"] = embedded.truncated
    return {
        "object": "list",
        "data": [
            {"object": "embedding", "index": index, "embedding": row}
            for index, row in enumerate(rows(vectors, encoding))
        ],
        "model": model,
        "usage": usage,
    }


@router.get("/v1/models", responses=answer(OpenAIModels, "All loaded models"))
@needs_any_key
async def list_openai_models(resources: Loaded) -> Json:
    """List the loaded models, in OpenAI's shape."""
    return Json(
        {
            "object": "list",
            "data": [_model(name) for name in resources.encoders],
        }
    )


@router.get("/v1/models/{name}", responses=answer(OpenAIModel, "The model"))
@needs_any_key
async def describe_openai_model(name: str, resources: Loaded) -> Json:
    """Describe one loaded model, in OpenAI's shape."""
    return Json(_model(resources.encoder_named(name).name))


def _model(name: str) -> dict[str, object]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "interlingua"}
