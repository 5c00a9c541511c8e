"""/corpora: make, describe and drop corpora."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Depends, Response

from service.api.auth import needs
from service.api.body import json_body
from service.api.openapi import answer, body
from service.api.responses import Json
from service.api.schemas.corpora import CorporaAnswer, CorpusAnswer, CreateCorpusRequest
from service.api.work import Work, WorkOf
from service.errors import ConflictError, UnavailableError
from service.inference.request import check_dimensions
from service.search.backend import CorpusBackend, CorpusInfo
from service.search.document import Metadata, check_metadata
from service.search.fields import check_types
from service.search.passages import PassagePolicy
from service.search.policy import IndexPolicy
from service.security.grants import Scope

router = APIRouter(prefix="/corpora", tags=["corpora"])


@router.get("", responses=answer(CorporaAnswer, "All corpora"))
@needs(Scope.SEARCH, Scope.WRITE, Scope.ADMIN)
async def list_corpora(work: WorkOf) -> Json:
    """List the corpora."""

    def infos() -> list[CorpusInfo]:
        found = []
        for corpus in work.resources.corpora.list():
            with suppress(UnavailableError):  # dropped since
                found.append(corpus.info())
        return found

    return Json({"corpora": [_describe(info) for info in await work.read(infos)]})


@router.put(
    "/{name}",
    responses=answer(CorpusAnswer, "It was made", status=201)
    | answer(CorpusAnswer, "It was there already, and is as asked for"),
    openapi_extra=body(CreateCorpusRequest, required=False),
)
@needs(Scope.ADMIN)
async def create_corpus(
    name: str,
    request: Annotated[CreateCorpusRequest, Depends(json_body(CreateCorpusRequest, optional=True))],
    work: WorkOf,
) -> Json:
    """Make a corpus; asking again for the same changes nothing."""
    encoder = work.resources.encoder(request.model)
    dimension = check_dimensions(encoder.manifest, request.dimensions)
    metadata = _metadata(request)
    passages = _passages(request)
    fields = None if request.fields is None else check_types(request.fields)
    index = IndexPolicy() if request.index is None else IndexPolicy(**request.index.model_dump())
    try:
        corpus = await work.run(
            work.resources.corpora.create,
            name,
            model=encoder.name,
            space=encoder.manifest.space,
            dimension=dimension,
            metadata=metadata,
            passages=passages,
            index=index,
            fields=fields,
            identity=encoder.manifest.identity,
        )
    except ConflictError:
        existing = await work.read(lambda: work.resources.corpora.get(name).info())
        same = (existing.space, existing.dimension, existing.passages) == (
            encoder.manifest.space, dimension, passages,
        )  # fmt: skip
        if fields is not None:
            same = same and existing.fields == fields
        if request.index is not None:
            same = same and existing.policy == index
        if not same or (request.metadata is not None and dict(existing.metadata) != metadata):
            raise
        return Json(_describe(existing))
    return Json(_describe(await work.read(corpus.info)), status_code=201)


@router.get("/{name}", responses=answer(CorpusAnswer, "The corpus"))
@needs(Scope.SEARCH, Scope.WRITE, Scope.ADMIN)
async def describe_corpus(name: str, work: WorkOf) -> Json:
    """Describe one corpus."""
    return Json(_describe(await work.read(lambda: work.resources.corpora.get(name).info())))


@router.delete(
    "/{name}", status_code=204, response_class=Response, responses={204: {"description": "Gone"}}
)
@needs(Scope.ADMIN)
async def drop_corpus(name: str, work: WorkOf) -> Response:
    """Drop a corpus and all that is in it."""
    # Not in turn with its writes: one whose database hangs can be dropped all the same.
    await work.run(work.resources.corpora.drop, name)
    work.metrics.forget_corpus(name)
    return Response(status_code=204)


async def corpus_named(name: str, work: Work) -> CorpusBackend:
    """Return a corpus, or raise NotFoundError."""
    return await work.read(work.resources.corpora.get, name)


def _metadata(request: CreateCorpusRequest) -> Metadata | None:
    if request.metadata is None:
        return None
    check_metadata(request.metadata)
    return request.metadata  # type: ignore[return-value]  # flat, as just checked


def _passages(request: CreateCorpusRequest) -> PassagePolicy | None:
    wanted = request.passages
    return None if wanted is None else PassagePolicy(wanted.words, wanted.overlap_sentences)


def _describe(info: CorpusInfo) -> dict[str, object]:
    return {
        "name": info.name,
        "model": info.model,
        "identity": info.identity,
        "space": info.space,
        "dimension": info.dimension,
        "documents": info.documents,
        "languages": dict(info.languages),
        "index": info.index,
        "index_policy": asdict(info.policy),
        "recall": info.recall,
        "created": info.created,
        "bytes": info.bytes,
        "metadata": dict(info.metadata),
        "passages": None if info.passages is None else asdict(info.passages),
        "fields": None if info.fields is None else dict(info.fields),
    }
