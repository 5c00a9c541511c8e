"""PUT /classifiers/{name}: examples in, a job out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import orjson
from fastapi import APIRouter, Query, Request
from pydantic import ValidationError

from service.api.auth import needs
from service.api.body import NDJSON, json_body, lines, media_type, parse_json
from service.api.classifiers import describe_classifier_head
from service.api.corpora import corpus_named
from service.api.jobs import FIT, job_answer
from service.api.limits import check_count
from service.api.openapi import answer, body
from service.api.schemas.classifiers import CorpusExamples, FitRequest
from service.api.schemas.jobs import JobAnswer
from service.api.validation import check_parameters, explain
from service.api.work import Work, WorkOf
from service.classification.example import check_label, example_from_json
from service.classification.examples import MAX_LABELS, ExampleCollector
from service.classification.fit import FitOptions
from service.classification.head import Head
from service.classification.making import HeadPlan, check_plan, make_head
from service.errors import InputError, MalformedError, in_field, shorten
from service.inference.fairness import BACKGROUND
from service.inference.patient import embed_all
from service.inference.request import EmbedOptions
from service.jobs.job import Job, Result
from service.search.backend import CorpusBackend
from service.search.document import Document
from service.security.grants import Scope

router = APIRouter(prefix="/classifiers", tags=["classify"])

_read_request = json_body(FitRequest)
_PAGE_DOCUMENTS = 1000
_OWN_PARAMETERS = frozenset({"wait"})
_TEXTS = frozenset({"description", "model"})
"""Fields that are text also where it looks like a number."""


@router.put(
    "/{name}",
    responses=answer(JobAnswer, "With `wait`: the job, over; its result is the classifier")
    | answer(JobAnswer, "The job that fits it", status=202),
    openapi_extra=body(FitRequest, lines=True),
)
@needs(Scope.WRITE)
async def fit_classifier(
    name: str,
    request: Request,
    work: WorkOf,
    wait: Annotated[bool, Query(description="Answer when the fit is over")] = False,
) -> object:
    """Fit a classifier on labelled examples, on labels described in words, or on both.

    JSON holds up to `max_inputs` examples; NDJSON (`application/x-ndjson`, one example a line) may
    be of any size, up to a million examples, and has the other fields as query parameters. Under a
    name that is there, a new version is made and then switched to in one step. A service on a
    vector engine fits none (409), since the replicas beside it would not learn of it.
    """
    classifiers = work.resources.classifiers
    classifiers.check_free(name)
    streamed = media_type(request) in NDJSON
    if not streamed:
        check_parameters(request.query_params, _OWN_PARAMETERS, body=FitRequest.model_fields)
    wanted = _from_query(request) if streamed else await _read_request(request)
    _check_sources(wanted, streamed=streamed)
    encoder = work.resources.encoder(wanted.model)
    corpus = None
    if wanted.corpus is not None:
        work.require(Scope.SEARCH)
        corpus = await corpus_named(wanted.corpus.name, work)
    collector = ExampleCollector(
        multi_label=wanted.multi_label, contradictions=wanted.contradictions
    )
    plan = _plan(name, wanted)
    try:
        if streamed:
            await _collect_lines(request, wanted, collector, limit_bytes=work.max_line_bytes)
        else:
            await work.run(_collect, wanted, collector, work)
        if corpus is None:
            # Here and not in the job, so that whoever sent them learns of it at once.
            examples = await work.run(collector.finish, tuple(plan.labels))
            check_plan(plan, examples)

        def task(job: Job) -> Result:
            with collector:
                if corpus is not None and wanted.corpus is not None:
                    _collect_corpus(
                        corpus, wanted.corpus, collector, job, multi_label=wanted.multi_label
                    )
                examples = collector.finish(tuple(plan.labels))
                # In the requests' queue and behind them: a fit of a million texts starves nobody.
                encode = partial(
                    embed_all, work.resources.engine, encoder,
                    options=EmbedOptions(normalize=True, client=BACKGROUND), check=job.check,
                )  # fmt: skip

                def make(directory: Path, version: int) -> Head:
                    return make_head(
                        replace(plan, version=version), examples, encoder, directory,
                        watcher=job, encode=encode,
                    )  # fmt: skip

                head = classifiers.add_version(name, make)
            return describe_classifier_head(head, classifiers)

        job = work.resources.jobs.submit(
            FIT, name, task, client=work.grant.client, corpus=plan.corpus
        )
    except BaseException:
        collector.close()
        raise
    return await job_answer(job, work, wait=wait)


def _from_query(request: Request) -> FitRequest:
    """Return the fields that come as query parameters beside a body of lines."""
    check_parameters(request.query_params, _OWN_PARAMETERS | FitRequest.model_fields.keys())
    values = {
        name: _json_or_text(value, text=name in _TEXTS)
        for name, value in request.query_params.items()
        if name not in _OWN_PARAMETERS
    }
    if "examples" in values or "corpus" in values:
        raise InputError("The examples are the body's lines.", field="examples")
    try:
        return FitRequest.model_validate(values)
    except ValidationError as error:
        raise explain(error.errors(include_url=False), FitRequest) from None


def _json_or_text(value: str, *, text: bool) -> object:
    try:
        parsed: object = orjson.loads(value)
    except orjson.JSONDecodeError:
        return value
    return value if text and not isinstance(parsed, str) else parsed


def _check_sources(wanted: FitRequest, *, streamed: bool) -> None:
    given = [name for name in ("examples", "corpus") if getattr(wanted, name) is not None]
    if len(given) > 1:
        raise InputError(
            "Examples are sent, or are documents of a corpus: not both.", field="corpus"
        )
    if not (given or streamed or wanted.labels):
        raise MalformedError(
            "There is nothing to fit on.",
            field="examples",
            remedy="Send examples, name a corpus, or describe labels in words (GET /docs).",
        )
    labels = wanted.labels or {}
    check_count(labels, MAX_LABELS, field="labels", remedy=f"At most {MAX_LABELS} labels.")
    for label in labels:
        check_label(label, field="labels")


def _plan(name: str, wanted: FitRequest) -> HeadPlan:
    return HeadPlan(
        name=name,
        description=wanted.description,
        labels=wanted.labels or {},
        options=FitOptions(
            regularisation=wanted.regularisation,
            class_weights=wanted.class_weights,
            unknown_threshold=wanted.unknown_threshold,
        ),
        document=wanted.document_options,
        corpus=None if wanted.corpus is None else wanted.corpus.name,
    )


def _collect(wanted: FitRequest, collector: ExampleCollector, work: Work) -> None:
    examples = wanted.examples or []
    check_count(
        examples,
        work.max_inputs,
        field="examples",
        remedy="Send them as application/x-ndjson, one a line: any number at a time.",
    )
    for position, record in enumerate(examples):
        _add(record, wanted, collector, place=f"examples[{position}]")


async def _collect_lines(
    request: Request, wanted: FitRequest, collector: ExampleCollector, *, limit_bytes: int
) -> None:
    async for number, line in lines(request, limit_bytes=limit_bytes):
        place = f"line {number}"
        with in_field(place):
            record = parse_json(line, name="line")
        _add(record, wanted, collector, place=place)


def _add(record: object, wanted: FitRequest, collector: ExampleCollector, *, place: str) -> None:
    try:
        collector.add(example_from_json(record, multi_label=wanted.multi_label))
    except InputError as error:
        error.field = f"{place}.{error.field}" if error.field else place
        raise


def _collect_corpus(
    corpus: CorpusBackend,
    source: CorpusExamples,
    collector: ExampleCollector,
    job: Job,
    *,
    multi_label: bool,
) -> None:
    for number, document in enumerate(_documents(corpus)):
        if number % _PAGE_DOCUMENTS == 0:
            job.progress(0, None, f"reading documents: {number:,}")
        record = _record_of(document, source)
        if record is None:
            continue
        try:
            collector.add(example_from_json(record, multi_label=multi_label))
        except InputError as error:
            _name_document(error, document, source)
            raise
    if not len(collector):
        raise InputError(
            f"No document of corpus {corpus.name} has this field.",
            field="corpus.label_field",
            given=source.label_field,
            remedy=f"GET /corpora/{corpus.name}/documents shows what metadata they have.",
        )


def _record_of(document: Document, source: CorpusExamples) -> dict[str, object] | None:
    """Return a document as an example would be sent; None where it has no label."""
    label = document.metadata.get(source.label_field)
    record: dict[str, object] = {"text": document.text}
    if isinstance(label, list):
        labels = [str(one) for one in label if one is not None]
        if not labels:
            return None
        record["labels"] = labels
    elif label is None:
        return None
    else:
        record["label"] = str(label)
    if document.language is not None:
        record["language"] = document.language
    group = document.metadata.get(source.group_field) if source.group_field else None
    if group is not None:
        record["group"] = str(group)
    return record


def _name_document(error: InputError, document: Document, source: CorpusExamples) -> None:
    """Have an error about a document's example name the request's field and the document."""
    fields = {
        "label": source.label_field,
        "labels": source.label_field,
        "group": source.group_field,
    }
    named = fields.get(error.field or "")
    if named is None:
        return
    error.field = "corpus.group_field" if error.field == "group" else "corpus.label_field"
    error.given = shorten({"id": document.id, named: document.metadata.get(named)})


def _documents(corpus: CorpusBackend) -> Iterator[Document]:
    cursor: str | None = None
    while True:
        page = corpus.page(cursor, limit=_PAGE_DOCUMENTS)
        yield from page.documents
        cursor = page.next_cursor
        if cursor is None:
            return
