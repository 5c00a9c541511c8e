"""POST /tokenize and /decode: how a model cuts texts, and texts from what it cut."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from fastapi import APIRouter, Depends

from service.api.auth import needs
from service.api.body import json_body
from service.api.limits import check_count
from service.api.openapi import answer, body
from service.api.responses import Json, JsonRows
from service.api.schemas.tokenize import DecodeRequest, TokenAnswer, TokenizeRequest
from service.api.token_input import native_decoder
from service.api.work import Work, WorkOf
from service.errors import in_field
from service.inference.encoder import Encoder
from service.security.grants import Scope

router = APIRouter(tags=["models"])


@router.post(
    "/tokenize",
    responses=answer(list[list[TokenAnswer]], "The tokens of each text"),
    openapi_extra=body(TokenizeRequest),
)
@needs(Scope.EMBED)
async def tokenize(
    request: Annotated[TokenizeRequest, Depends(json_body(TokenizeRequest))], work: WorkOf
) -> Json:
    """Cut texts into tokens, as the model does before it makes vectors.

    Nothing is cut off here: a text that has more tokens than `max_input_length` shows them all.
    """
    check_count(request.inputs, work.max_inputs, field="inputs")
    encoder = work.resources.encoder(request.model, language=request.language)
    # On another thread: a text of megabytes has a hundred times as much of JSON.
    return await work.compute(lambda: JsonRows(_pieces(encoder, request, work)))


def _pieces(
    encoder: Encoder, request: TokenizeRequest, work: Work
) -> Iterator[list[dict[str, object]]]:
    prefix = encoder.prompt_prefix(request.prompt_name)
    for text in request.inputs:
        work.check()
        tower, _ = encoder.tower_for(text, request.language)
        pieces = tower.tokenizer.pieces(prefix + text, special=request.add_special_tokens)
        yield [
            {"id": p.id, "text": p.text, "special": p.special, "start": p.start, "stop": p.stop}
            for p in pieces
        ]


@router.post(
    "/decode",
    responses=answer(list[str], "The text behind each list of ids"),
    openapi_extra=body(DecodeRequest),
)
@needs(Scope.EMBED)
async def decode(
    request: Annotated[DecodeRequest, Depends(json_body(DecodeRequest))], work: WorkOf
) -> Json:
    """Turn token ids of a model back into text."""
    check_count(request.ids, work.max_inputs, field="ids")
    return Json(await work.run(_texts, work, request))


def _texts(work: Work, request: DecodeRequest) -> list[str]:
    read = native_decoder(
        work.resources.encoder(request.model), special=not request.skip_special_tokens
    )
    texts = []
    for position, ids in enumerate(request.ids):
        with in_field(f"ids[{position}]"):
            texts.append(read(ids))
    return texts
