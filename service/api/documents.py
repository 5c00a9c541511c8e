"""/corpora/{name}/documents: upsert, list, get and delete the documents of a corpus."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response

from service.api.body import NDJSON, json_body, media_type, parse_json
from service.api.corpora import corpus_named
from service.api.ingest import Ingest
from service.api.limits import check_count
from service.api.openapi import answer, body
from service.api.responses import Json
from service.api.schemas.corpora import (
    DeleteAnswer,
    DeleteRequest,
    DocumentAnswer,
    PageAnswer,
    UpsertAnswer,
    UpsertRequest,
)
from service.api.work import WorkOf
from service.errors import MalformedError
from service.search.document import Document, document_from_json
from service.search.filters import Filter

router = APIRouter(prefix="/corpora/{name}/documents", tags=["corpora"])

_read_documents = json_body(UpsertRequest)


@router.post(
    "",
    responses=answer(UpsertAnswer, "What was stored; it is durable and can be found at once"),
    openapi_extra=body(UpsertRequest, lines=True),
)
async def upsert_documents(name: str, request: Request, work: WorkOf) -> Json:
    """Insert documents, or replace those whose id is there.

    JSON is stored all or none. NDJSON (`application/x-ndjson`, one document a line) may be of any
    size: it is stored in batches as it comes, and lines that are no documents are reported by
    number while the rest is stored.
    """
    corpus = await corpus_named(name, work)
    if media_type(request) in NDJSON:
        ingest = await Ingest.begin(corpus, work, model=None)
        return Json(await ingest.lines(request))
    wanted = await _read_documents(request)
    check_count(
        wanted.documents,
        work.max_inputs,
        field="documents",
        remedy="Send them as application/x-ndjson, one a line: any number at a time.",
    )
    documents = [
        document_from_json(record, field=f"documents[{position}]")
        for position, record in enumerate(wanted.documents)
    ]
    ingest = await Ingest.begin(corpus, work, model=wanted.model)
    return Json(await ingest.documents(documents))


@router.get("", responses=answer(PageAnswer, "A page of documents"))
async def list_documents(
    name: str,
    work: WorkOf,
    cursor: Annotated[str | None, Query(description="The last page's next_cursor")] = None,
    limit: Annotated[int, Query(ge=1, le=1000, description="Documents a page")] = 100,
    language: Annotated[str | None, Query(description="Only documents in it")] = None,
    filter: Annotated[
        str | None, Query(description='Conditions on metadata, as JSON: {"topic": "law"}')
    ] = None,
) -> Json:
    """List the documents, page by page."""
    corpus = await corpus_named(name, work)
    page = await work.run(
        corpus.page, cursor, limit=limit, language=language, filter=_filter(filter)
    )
    return Json(
        {"documents": list(map(_describe, page.documents)), "next_cursor": page.next_cursor}
    )


@router.delete(
    "", responses=answer(DeleteAnswer, "How many were there"), openapi_extra=body(DeleteRequest)
)
async def delete_documents(
    name: str,
    request: Annotated[DeleteRequest, Depends(json_body(DeleteRequest))],
    work: WorkOf,
) -> Json:
    """Delete documents by id, or all that a filter matches."""
    corpus = await corpus_named(name, work)
    if request.ids is not None:
        deleted = await work.run(corpus.delete, request.ids)
    else:
        deleted = await work.run(corpus.delete_where, request.filter or {})
    return Json({"deleted": deleted})


@router.get("/{id:path}", responses=answer(DocumentAnswer, "The document"))
async def get_document(name: str, id: str, work: WorkOf) -> Json:
    """Give one document."""
    corpus = await corpus_named(name, work)
    return Json(_describe(await work.run(corpus.get_document, id)))


@router.delete(
    "/{id:path}", status_code=204, response_class=Response, responses={204: {"description": "Gone"}}
)
async def delete_document(name: str, id: str, work: WorkOf) -> Response:
    """Delete one document; 404 where it is not there."""
    corpus = await corpus_named(name, work)
    if not await work.run(corpus.delete, [id]):
        await work.run(corpus.get_document, id)  # raises its NotFoundError
    return Response(status_code=204)


def _filter(text: str | None) -> Filter | None:
    if text is None:
        return None
    value = parse_json(text.encode("utf-8", "surrogatepass"))
    if not isinstance(value, dict):
        raise MalformedError(
            "A filter is a JSON object.",
            field="filter",
            given=text,
            remedy='For example: filter={"topic": "law"}',
        )
    return value


def _describe(document: Document) -> dict[str, object]:
    return {
        "id": document.id,
        "text": document.text,
        "language": document.language,
        "metadata": dict(document.metadata),
    }
