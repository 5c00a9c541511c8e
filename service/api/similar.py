"""POST and GET /similar: the documents of a corpus that are nearest to a text, in any language."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Annotated

import numpy as np
from fastapi import APIRouter, Depends, Request
from fastapi import Query as Parameter

from service.api.auth import needs
from service.api.body import json_body
from service.api.documents import FilterParameter, filter_of
from service.api.hits import check_fields, hit_answer
from service.api.input_vectors import embed_inputs
from service.api.limits import check_count
from service.api.openapi import answer, body
from service.api.responses import Json, JsonRows
from service.api.schemas.similar import MAX_HITS, MAX_NEIGHBOURS, HitAnswer, SimilarRequest
from service.api.state import Resources
from service.api.validation import called, check_parameters
from service.api.work import Work, WorkOf
from service.demo.loader import DEMO_NAME
from service.errors import InputError, NotFoundError, TooLargeError, in_field
from service.inference.encoder import QUERY_PROMPTS
from service.inference.request import EmbedOptions
from service.inference.session import Vectors
from service.search.backend import CorpusBackend
from service.search.document import check_language
from service.search.grouping import Grouping
from service.search.query import (
    CANDIDATES_EACH,
    MAX_DEPTH,
    Found,
    Query,
    check_directions,
    check_texts,
    find,
)
from service.security.grants import Scope
from service.text.language import languages_of

router = APIRouter(tags=["search"])

_PARAMETERS = frozenset({"q", "corpus", "k", "languages", "min_score", "offset", "filter", "model"})
"""Of the search by GET."""


@router.post(
    "/similar",
    responses=answer(list[list[HitAnswer]], "The neighbours of each input, best first"),
    openapi_extra=body(SimilarRequest),
)
@needs(Scope.SEARCH)
async def similar(
    request: Annotated[SimilarRequest, Depends(json_body(SimilarRequest))], work: WorkOf
) -> Json:
    """Find the documents nearest to texts, to other documents, or to vectors."""
    return await _search(
        request,
        work,
        lambda rows: [[hit_answer(found, request.fields) for found in row] for row in rows],
    )


@router.get("/similar", responses=answer(list[HitAnswer], "The neighbours, best first"))
@needs(Scope.SEARCH)
async def similar_to_one(
    http: Request,
    work: WorkOf,
    q: Annotated[str, Parameter(description="A text", examples=["Warum schwimmt Eis?"])],
    corpus: Annotated[str | None, Parameter(description="Where to look")] = None,
    k: Annotated[
        int, Parameter(ge=1, le=MAX_HITS, description=f"How many hits, 1 to {MAX_HITS}")
    ] = 10,
    languages: Annotated[
        str | None, Parameter(description="Only documents in these, such as de,fr")
    ] = None,
    min_score: Annotated[float | None, Parameter(ge=-1, le=1, description="Least cosine")] = None,
    offset: Annotated[
        int,
        Parameter(
            ge=0, description=f"So many of the best are left out; offset + k may be {MAX_DEPTH:,}"
        ),
    ] = 0,
    filter: FilterParameter = None,
    model: Annotated[str | None, Parameter(description="A loaded model")] = None,
) -> Json:
    """Find the documents nearest to one text: for curl and the address bar."""
    check_parameters(http.query_params, _PARAMETERS)
    request = SimilarRequest(
        inputs=[q],
        corpus=corpus,
        k=k,
        languages=languages_of(languages),
        min_score=min_score,
        offset=offset,
        filter=filter_of(filter),
        model=model,
    )
    with called("inputs[0]", "q"):
        return await _search(request, work, lambda rows: [hit_answer(found) for found in rows[0]])


async def _search(
    request: SimilarRequest, work: Work, answer_of: Callable[[list[list[Found]]], object]
) -> Json:
    check_fields(request.fields)
    query = Query(
        k=request.k,
        offset=request.offset,
        languages=request.languages,
        filter=request.filter,
        min_score=request.min_score,
        exclude=[[id] for id in request.ids] if request.ids is not None else None,
        grouping=_grouping(request),
        by_margin=request.margin,
    )
    field, queries = _queries(request)
    _check_queries(request, queries, work, field=field)
    corpus = await work.read(_corpus, work.resources, request.corpus)
    if request.languages is not None:
        await work.read(_check_languages, request.languages, corpus, work.resources)
    vectors = await _query_vectors(request, corpus, work)
    check_directions(vectors, queries, field=field)
    started = time.perf_counter()
    # What takes many searches ends with its request; one alone is not worth watching the client.
    many = query.by_margin or query.grouping is not None
    in_time = work.compute if many else work.read
    found = await in_time(find, corpus, vectors, query, check=work.check)
    work.searched(corpus.name, time.perf_counter() - started)
    # Many hits are tens of megabytes of JSON, which all other requests would wait for.
    return await work.read(lambda: JsonRows(answer_of(found)))


def _queries(request: SimilarRequest) -> tuple[str, Sequence[object]]:
    """Return the field that says what to look for, and what it says."""
    given = {"inputs": request.inputs, "ids": request.ids, "vectors": request.vectors}
    ((field, queries),) = [(name, rows) for name, rows in given.items() if rows is not None]
    return field, queries


def _check_queries(
    request: SimilarRequest, queries: Sequence[object], work: Work, *, field: str
) -> None:
    """Refuse blank queries, more than texts are allowed, and more neighbours than memory is for."""
    check_count(queries, work.max_inputs, field=field)
    if request.inputs is not None:
        check_texts(request.inputs, field=field)
    each = request.offset + request.k
    if request.margin or request.group is not None:
        each = min(CANDIDATES_EACH * each, MAX_DEPTH)
    if len(queries) * each > MAX_NEIGHBOURS:
        raise TooLargeError(
            f"{len(queries)} queries that look at {each} neighbours each are too much for one "
            f"request; {MAX_NEIGHBOURS} neighbours are allowed.",
            field="k",
            given=request.k,
            remedy="Lower k or offset, or split the queries over several requests.",
        )


def _grouping(request: SimilarRequest) -> Grouping | None:
    wanted = request.group
    return None if wanted is None else Grouping(score=wanted.score, field=wanted.field)


def _corpus(resources: Resources, name: str | None) -> CorpusBackend:
    if name is not None:
        return resources.corpora.get(name)
    corpora = {corpus.name: corpus for corpus in resources.corpora.list()}
    if DEMO_NAME in corpora:
        return corpora[DEMO_NAME]
    if not corpora:
        raise NotFoundError(
            "There is no corpus yet.", field="corpus", remedy="Make one: PUT /corpora/NAME."
        )
    if len(corpora) > 1:
        raise InputError(
            f"There are several corpora: {', '.join(corpora)}.",
            field="corpus",
            remedy="Name one of them.",
        )
    return next(iter(corpora.values()))


def _check_languages(languages: Sequence[str], corpus: CorpusBackend, resources: Resources) -> None:
    """Refuse a language that no model knows and no document is in: it would find nothing."""
    known = {code for e in resources.encoders.values() for code in e.manifest.languages}
    for position, code in enumerate(languages):
        field = f"languages[{position}]"
        with in_field(field):
            check_language(code)
        if code not in known:
            known |= set(corpus.info().languages)
        if code not in known:
            raise InputError(
                f"Corpus {corpus.name} has no document in this language.",
                field=field,
                given=code,
                remedy=f"GET /corpora/{corpus.name} lists the languages it has.",
            )


async def _query_vectors(request: SimilarRequest, corpus: CorpusBackend, work: Work) -> Vectors:
    if request.inputs is None and request.model is not None:
        # Nothing is encoded, but whoever names a model of another space has vectors of it.
        work.resources.encoder_for_space(corpus.space, preferred=corpus.model, named=request.model)
    if request.vectors is not None:
        return await work.read(_vectors_given, request.vectors, corpus)
    if request.ids is not None:
        return await work.read(corpus.vectors_of, request.ids)
    assert request.inputs is not None, "the request's own check; this is a bug"
    encoder = work.resources.encoder_for_space(
        corpus.space, preferred=corpus.model, named=request.model, language=request.language
    )
    options = EmbedOptions(
        language=request.language,
        dimensions=corpus.dimension,
        normalize=True,
        prompt=encoder.prompt_among(QUERY_PROMPTS),
    )
    found = await embed_inputs(
        work, encoder, request.inputs, options, document=request.document_options
    )
    return found.vectors


def _vectors_given(rows: Sequence[Sequence[float]], corpus: CorpusBackend) -> Vectors:
    for position, row in enumerate(rows):
        if len(row) != corpus.dimension:
            raise InputError(
                f"Vectors of corpus {corpus.name} have {corpus.dimension} dimensions, this one has "
                f"{len(row)}.",
                field=f"vectors[{position}]",
                given=row,
                remedy=f"Send vectors of space {corpus.space}.",
            )
    with np.errstate(over="ignore"):  # what float32 cannot hold becomes inf, which is refused
        vectors: Vectors = np.asarray(rows, dtype=np.float32)
    if not np.isfinite(vectors).all():
        position = int(np.argmin(np.isfinite(vectors).all(axis=1)))
        raise InputError(
            "A number is too large for float32.", field=f"vectors[{position}]", given=rows[position]
        )
    return vectors
