"""GET /corpora/{name}/export: the documents of a corpus as JSON lines."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from typing import Annotated

import orjson
from fastapi import APIRouter, Query
from starlette.responses import Response, StreamingResponse

from service.api.auth import needs
from service.api.body import NDJSON
from service.api.corpora import corpus_named
from service.api.documents import FilterParameter, describe_document, filter_of
from service.api.work import WorkOf
from service.errors import NotFoundError
from service.search.backend import CorpusBackend
from service.search.document import Document
from service.security.grants import Scope

router = APIRouter(prefix="/corpora/{name}/export", tags=["corpora"])

PAGE = 500


@router.get(
    "",
    response_class=Response,
    responses={
        200: {
            "description": "One document a line, as POST .../documents takes them",
            "content": {NDJSON[0]: {"schema": {"type": "string"}}},
        }
    },
)
@needs(Scope.SEARCH)
async def export_documents(
    name: str,
    work: WorkOf,
    vectors: Annotated[
        bool,
        Query(description="With each document's vector, as base64 of float32, so that none is "
                          "encoded again; documents in passages come without"),
    ] = False,
    language: Annotated[str | None, Query(description="Only documents in it")] = None,
    filter: FilterParameter = None,
) -> StreamingResponse:  # fmt: skip
    """Give all documents, in the order in which they were last written.

    One that is replaced meanwhile may come twice; none is missed.
    """
    corpus = await corpus_named(name, work)
    condition = filter_of(filter)
    # The first page is read before the answer begins, so that what is refused has its status.
    first = await work.read(corpus.page, limit=PAGE, language=language, filter=condition)

    async def lines() -> AsyncIterator[bytes]:
        page = first
        while True:
            yield await work.run(_lines, corpus, page.documents, vectors)
            if page.next_cursor is None:
                return
            page = await work.run(
                corpus.page, page.next_cursor, limit=PAGE, language=language, filter=condition
            )

    return StreamingResponse(
        lines(),
        media_type=NDJSON[0],
        headers={"content-disposition": f'attachment; filename="{name}.jsonl"'},
    )


def _lines(corpus: CorpusBackend, documents: tuple[Document, ...], vectors: bool) -> bytes:
    if not vectors:
        return b"".join(orjson.dumps(describe_document(d)) + b"\n" for d in documents)
    lines = []
    for document in documents:
        record = describe_document(document)
        if not document.passages:
            try:
                (vector,) = corpus.vectors_of([document.id])
            except NotFoundError:
                continue  # deleted since the page was read
            record["vector"] = base64.b64encode(vector.astype("<f4").tobytes()).decode()
        lines.append(orjson.dumps(record) + b"\n")
    return b"".join(lines)
