"""/corpora/{name}/documents: upsert, list, get and delete the documents of a corpus."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import JsonValue

from service.api.auth import needs
from service.api.body import NDJSON, json_body, lines, media_type, parse_json
from service.api.corpora import corpus_named
from service.api.events import EventStream, event_lines
from service.api.ingest import Event, Ingest
from service.api.limits import check_count
from service.api.negotiation import preferred
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
from service.api.schemas.similar import CONDITIONS
from service.api.spool import checked_lines
from service.api.validation import check_parameters
from service.api.work import WorkOf
from service.errors import MalformedError
from service.search.backend import CorpusBackend
from service.search.document import Document
from service.search.incoming import incoming_from_json
from service.security.grants import Scope

router = APIRouter(prefix="/corpora/{name}/documents", tags=["corpora"])

FilterParameter = Annotated[
    str | None, Query(description=f"Conditions on metadata, as JSON: {CONDITIONS}")
]

_read_documents = json_body(UpsertRequest)


@router.post(
    "",
    responses=answer(UpsertAnswer, "What was stored; it is durable and can be found at once"),
    openapi_extra=body(UpsertRequest, lines=True),
)
@needs(Scope.WRITE)
async def upsert_documents(
    name: str,
    request: Request,
    work: WorkOf,
    model: Annotated[str | None, Query(description="For NDJSON: a loaded model")] = None,
    space: Annotated[
        str | None, Query(description="For NDJSON: the space of the vectors that come along")
    ] = None,
    broken: Annotated[
        Literal["skip", "refuse"],
        Query(
            description="For NDJSON: whether lines that are no documents are reported and left "
            "out, or have all refused before anything is stored"
        ),
    ] = "skip",
) -> Response:
    """Insert documents, or replace those whose id is there.

    A document may bring its `vector` along, of the corpus' space; the others are encoded.
    JSON is stored all or none. NDJSON (`application/x-ndjson`, one document a line) may be of any
    size: it is stored in batches as it comes, and lines that are no documents are reported by
    number. With `accept: application/x-ndjson` the answer is a stream too: a line for each broken
    line and each batch as they come, the counts or the problem in the end.
    """
    corpus = await corpus_named(name, work)
    if media_type(request) in NDJSON:
        check_parameters(request.query_params, ("model", "space", "broken"))
        ingest = Ingest(corpus, work, model=model, space=space)
        numbered = lines(request, limit_bytes=work.max_line_bytes)
        if broken == "refuse":
            numbered = checked_lines(numbered, partial(_check, corpus=corpus))
        events = ingest.lines(numbered)
        if preferred(request.headers.get("accept", ""), NDJSON):
            return EventStream(event_lines(events), media_type=NDJSON[0])
        counts: Event = {}
        async for event in events:
            counts = event
        return Json(counts)
    check_parameters(request.query_params, (), body=UpsertRequest.model_fields)
    wanted = await _read_documents(request)
    check_count(
        wanted.documents,
        work.max_inputs,
        field="documents",
        remedy="Send them as application/x-ndjson, one a line: any number at a time.",
    )
    items = [
        incoming_from_json(
            record, dimension=corpus.dimension, fields=corpus.fields, field=f"documents[{position}]"
        )
        for position, record in enumerate(wanted.documents)
    ]
    ingest = Ingest(corpus, work, model=wanted.model, space=wanted.space)
    return Json(await ingest.documents(items))


@router.get("", responses=answer(PageAnswer, "A page of documents"))
@needs(Scope.SEARCH)
async def list_documents(
    name: str,
    work: WorkOf,
    cursor: Annotated[str | None, Query(description="The last page's next_cursor")] = None,
    limit: Annotated[int, Query(ge=1, le=1000, description="Documents a page")] = 100,
    language: Annotated[str | None, Query(description="Only documents in it")] = None,
    filter: FilterParameter = None,
) -> Json:
    """List the documents, page by page."""
    corpus = await corpus_named(name, work)
    page = await work.read(
        corpus.page, cursor, limit=limit, language=language, filter=filter_of(filter)
    )
    return Json(
        {"documents": list(map(describe_document, page.documents)), "next_cursor": page.next_cursor}
    )


@router.delete(
    "", responses=answer(DeleteAnswer, "How many were there"), openapi_extra=body(DeleteRequest)
)
@needs(Scope.WRITE)
async def delete_documents(
    name: str,
    request: Annotated[DeleteRequest, Depends(json_body(DeleteRequest))],
    work: WorkOf,
) -> Json:
    """Delete documents by id, or all that a filter matches."""
    corpus = await corpus_named(name, work)
    if request.ids is not None:
        deleted = await work.write(name, corpus.delete, request.ids)
    else:
        deleted = await work.write(name, corpus.delete_where, request.filter or {})
    return Json({"deleted": deleted})


@router.get("/{id:path}", responses=answer(DocumentAnswer, "The document"))
@needs(Scope.SEARCH)
async def get_document(name: str, id: str, work: WorkOf) -> Json:
    """Give one document."""
    corpus = await corpus_named(name, work)
    return Json(describe_document(await work.read(corpus.get_document, id)))


@router.delete(
    "/{id:path}", status_code=204, response_class=Response, responses={204: {"description": "Gone"}}
)
@needs(Scope.WRITE)
async def delete_document(name: str, id: str, work: WorkOf) -> Response:
    """Delete one document; 404 where it is not there."""
    corpus = await corpus_named(name, work)
    if not await work.write(name, corpus.delete, [id]):
        await work.read(corpus.get_document, id)  # raises its NotFoundError
    return Response(status_code=204)


def _check(line: bytes, *, corpus: CorpusBackend) -> None:
    incoming_from_json(
        parse_json(line, name="line"), dimension=corpus.dimension, fields=corpus.fields
    )


def filter_of(text: str | None) -> dict[str, JsonValue] | None:
    """Return the filter that a query parameter holds as JSON."""
    if text is None:
        return None
    value = parse_json(text.encode("utf-8", "surrogatepass"), name="filter")
    if not isinstance(value, dict):
        raise MalformedError(
            "A filter is a JSON object.",
            field="filter",
            given=text,
            remedy='For example: filter={"topic": "law"}',
        )
    return value


def describe_document(document: Document) -> dict[str, object]:
    """Return a document as clients see it."""
    return {
        "id": document.id,
        "text": document.text,
        "language": document.language,
        "metadata": dict(document.metadata),
    }
