"""POST /rerank, /v1/rerank and /v2/rerank: texts in the order of their nearness to a query.

The scores are cosines of the query's vector and each text's: what a search over these texts would
say, not what a cross-encoder that reads both together would. It is there for those who have a
pipeline with such a step, and few enough texts that they need no corpus.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from fastapi import APIRouter, Depends

from service.api.auth import needs
from service.api.body import json_body
from service.api.openapi import answer, body
from service.api.responses import Json
from service.api.schemas.rerank import (
    RankedText,
    RerankAnswer,
    RerankDocumentsRequest,
    RerankRequest,
)
from service.api.validation import called
from service.api.work import Work, WorkOf
from service.inference.encoder import DOCUMENT_PROMPTS, QUERY_PROMPTS, Encoder
from service.inference.request import EmbedOptions
from service.inference.session import Vectors
from service.inference.vectors import cosines
from service.security.grants import Scope
from service.text.tokenizer import Side

router = APIRouter(tags=["rerank"])
cohere_router = APIRouter(tags=["rerank"])


@dataclass(frozen=True, slots=True, eq=False)
class Ranked:
    """Texts in order.

    Attributes:
        order: Positions of the texts, best first; equals stay as they came.
        scores: Cosine of each text, float32 [texts], in the order of the request.
        tokens: Of the query and the texts.
        truncated: Positions of texts that were cut; the query's is behind the last text's.
    """

    order: list[int]
    scores: Vectors
    tokens: int
    truncated: list[int]


@router.post(
    "/rerank",
    responses=answer(list[RankedText], "The texts' places, best first"),
    openapi_extra=body(RerankRequest),
)
@needs(Scope.EMBED)
async def rerank(
    request: Annotated[RerankRequest, Depends(json_body(RerankRequest))], work: WorkOf
) -> Json:
    """Order texts by their nearness to a query, in text-embeddings-inference's shape.

    Scores are cosines of vectors, as in `/similarity`: no cross-encoder reads query and text
    together. The model's prompts for queries and documents are put before them where it has any.
    In `x-truncated` the query's position is the number of texts.
    """
    encoder = work.resources.encoder(request.model, language=request.language)
    ranked = await _rank(
        work, encoder, request.query, request.texts,
        field="texts", language=request.language,
        truncate=request.truncate is not False, cut=request.cut,
    )  # fmt: skip
    places: list[dict[str, object]] = []
    for index in ranked.order:
        place: dict[str, object] = {"index": index, "score": ranked.scores[index]}
        if request.return_text:
            place["text"] = request.texts[index]
        places.append(place)
    return Json(places)


@cohere_router.post(
    "/v1/rerank",
    responses=answer(RerankAnswer, "The documents' places, best first"),
    openapi_extra=body(RerankDocumentsRequest),
)
@cohere_router.post("/v2/rerank", include_in_schema=False)
@needs(Scope.EMBED)
async def rerank_documents(
    request: Annotated[RerankDocumentsRequest, Depends(json_body(RerankDocumentsRequest))],
    work: WorkOf,
) -> Json:
    """Order documents by their nearness to a query, in the shape of Cohere, Jina and infinity.

    Scores are cosines of vectors: no cross-encoder reads query and document together. Cohere's
    second version is `/v2/rerank`. In `usage.truncated` and `x-truncated` the query's position is
    the number of documents.
    """
    resources = work.resources
    known = request.model if request.model in resources.encoders else None
    encoder = resources.encoder(known, language=request.language)
    ranked = await _rank(
        work, encoder, request.query, request.documents,
        field="documents", language=request.language,
    )  # fmt: skip
    results: list[dict[str, object]] = []
    for index in ranked.order[: request.top_n]:
        place: dict[str, object] = {"index": index, "relevance_score": ranked.scores[index]}
        if request.return_documents:
            place["document"] = {"text": request.documents[index]}
        results.append(place)
    usage: dict[str, object] = {"prompt_tokens": ranked.tokens, "total_tokens": ranked.tokens}
    if ranked.truncated:
        usage["truncated"] = ranked.truncated
    return Json({"object": "list", "model": encoder.name, "results": results, "usage": usage})


async def _rank(
    work: Work,
    encoder: Encoder,
    query: str,
    texts: Sequence[str],
    *,
    field: str,
    language: str | None,
    truncate: bool = True,
    cut: Side = "right",
) -> Ranked:
    def options(prompts: Sequence[str]) -> EmbedOptions:
        return EmbedOptions(
            language=language,
            truncate=truncate,
            cut=cut,
            normalize=True,
            prompt=encoder.prompt_among(prompts),
        )

    with called("inputs", field):
        found = await work.embed(encoder, texts, options(DOCUMENT_PROMPTS), field=field)
    with called("inputs[0]", "query"):
        asked = await work.embed(encoder, [query], options(QUERY_PROMPTS), field="query")
    scores = cosines(found.vectors, asked.vectors[0])
    return Ranked(
        order=np.argsort(-scores, kind="stable").tolist(),
        scores=scores,
        tokens=sum(asked.tokens) + sum(found.tokens),
        truncated=[*found.truncated, *(len(texts) + place for place in asked.truncated)],
    )
