"""POST /corpora/{name}/reencode: another model for a corpus that goes on being searched."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Response

from service.api.auth import needs
from service.api.body import json_body
from service.api.corpora import corpus_named
from service.api.jobs import REENCODE, job_answer
from service.api.openapi import answer, body
from service.api.schemas.corpora import ReencodeRequest
from service.api.schemas.jobs import JobAnswer
from service.api.work import WorkOf
from service.inference.patient import background_documents, embed_all
from service.inference.request import check_dimensions
from service.inference.session import Vectors
from service.jobs.job import Job, Result
from service.search.reencode import NewSpace, reencode
from service.security.grants import Scope

router = APIRouter(prefix="/corpora/{name}/reencode", tags=["corpora"])


@router.post(
    "",
    responses=answer(JobAnswer, "It is over", status=200)
    | answer(JobAnswer, "It has begun; GET /jobs/ID tells how far it is", status=202),
    openapi_extra=body(ReencodeRequest),
)
@needs(Scope.ADMIN)
async def reencode_corpus(
    name: str,
    request: Annotated[ReencodeRequest, Depends(json_body(ReencodeRequest))],
    work: WorkOf,
    wait: Annotated[bool, Query(description="Whether to answer when it is over")] = False,
) -> Response:
    """Encode all documents with another model, then switch to it in one step.

    Until then the corpus is searched and written to as before; what is written meanwhile is taken
    along. A job that fails, is cancelled or interrupted has changed nothing.
    """
    await corpus_named(name, work)
    resources = work.resources
    encoder = resources.encoder(request.model)
    dimension = check_dimensions(encoder.manifest, request.dimensions)
    manifest = encoder.manifest
    new = NewSpace(encoder.name, manifest.space, dimension, manifest.identity)

    def task(job: Job) -> Result:
        def embed(texts: Sequence[str]) -> Vectors:
            return embed_all(
                resources.engine, encoder, texts, background_documents(encoder), check=job.check
            )

        def progress(done: int, total: int) -> None:
            job.progress(done, total, f"encoding with {encoder.name}")

        return {"documents": reencode(work.all_corpora, name, new, embed, progress)}

    job = resources.jobs.submit(REENCODE, name, task)
    return await job_answer(job, work, wait=wait)
