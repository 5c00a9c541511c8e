"""POST /embed and /similarity: texts to vectors, texts to cosines."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from service.api.auth import needs
from service.api.body import json_body
from service.api.input_vectors import embed_inputs
from service.api.limits import check_count
from service.api.negotiation import vectors_answer
from service.api.openapi import answer, body
from service.api.responses import Json
from service.api.schemas.embed import Cutting, EmbedRequest, SimilarityRequest
from service.api.validation import called
from service.api.work import WorkOf
from service.inference.formats import to_format
from service.inference.request import EmbedOptions
from service.inference.vectors import cosines
from service.security.grants import Scope

router = APIRouter(tags=["embed"])

_VECTORS = answer(
    list[list[float] | str],
    "A vector for each text, in their order, also for one text; base64 where that was asked for",
)


@router.post("/embed", responses=_VECTORS, openapi_extra=body(EmbedRequest))
@router.post("/", responses=_VECTORS, openapi_extra=body(EmbedRequest))
@needs(Scope.EMBED)
async def embed(
    http: Request,
    request: Annotated[EmbedRequest, Depends(json_body(EmbedRequest))],
    work: WorkOf,
) -> Response:
    """Turn texts into vectors.

    The body is text-embeddings-inference's. With `accept: application/octet-stream` or
    `application/x-npy` the vectors come as bytes, shape and type in headers.

    What it took is in the headers `x-total-time`, `x-tokenization-time`, `x-queue-time` and
    `x-inference-time` (milliseconds); positions of texts that were cut are in `x-truncated`. With
    `"document": true` a text is split and the vectors of its sentences or windows are pooled, so
    that nothing is cut.
    """
    encoder = work.resources.encoder(request.model, language=request.language)
    embedded = await embed_inputs(
        work,
        encoder,
        request.inputs,
        EmbedOptions(
            language=request.language,
            truncate=request.truncate is not False,
            cut=request.cut,
            dimensions=request.dimensions,
            normalize=request.normalize is not False,
            prompt=request.prompt_name,
        ),
        document=request.document_options,
    )
    vectors = to_format(embedded.vectors, request.precision or "float32")
    return vectors_answer(http, vectors, encoding=request.encoding_format)


@router.post(
    "/similarity",
    responses=answer(list[float], "The cosine of each sentence with the source, -1 to 1"),
    openapi_extra=body(SimilarityRequest),
)
@needs(Scope.EMBED)
async def similarity(
    request: Annotated[SimilarityRequest, Depends(json_body(SimilarityRequest))], work: WorkOf
) -> Json:
    """Compare one text with others, in whatever languages.

    In `x-truncated` the position of the source sentence is the number of sentences.
    """
    encoder = work.resources.encoder(request.model, language=request.language)
    parameters = request.parameters or Cutting()
    options = EmbedOptions(
        language=request.language,
        normalize=True,
        truncate=parameters.truncate is not False,
        cut=parameters.cut,
        prompt=parameters.prompt_name,
    )
    sentences = request.inputs.sentences
    check_count(sentences, work.max_inputs, field="inputs.sentences")
    # In one go, the source last: so sentences have their own places in errors and headers.
    texts, last = [*sentences, request.inputs.source_sentence], len(sentences)
    with (
        called("inputs[", "inputs.sentences["),
        called(f"inputs[{last}]", "inputs.source_sentence"),
    ):
        vectors = (await work.embed(encoder, texts, options, most=len(texts))).vectors
    return Json(cosines(vectors[:last], vectors[last]))
