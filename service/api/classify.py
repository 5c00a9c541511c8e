"""POST /classify and /predict: labels of texts, pairs and documents, in any language of the
encoder.
"""  # noqa: D205

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Depends
from pydantic import JsonValue

from service.api.auth import needs
from service.api.body import json_body
from service.api.described import head_of_labels
from service.api.explanations import explain
from service.api.input_vectors import InputVectors, embed_inputs
from service.api.limits import check_count
from service.api.openapi import answer, body
from service.api.responses import Json, JsonRows
from service.api.schemas.classify import (
    MAX_EXPLAINED,
    ClassifyRequest,
    ExplainedAnswer,
    PredictRequest,
    ScoredLabel,
)
from service.api.work import Work, WorkOf
from service.classification.answers import Scored, best_labels
from service.classification.example import check_label
from service.classification.head import Head
from service.errors import InputError, MalformedError
from service.inference.documents import DocumentOptions
from service.inference.encoder import Encoder
from service.inference.request import EmbedOptions
from service.inference.session import Vectors
from service.security.grants import Scope

router = APIRouter(tags=["classify"])

FEW_SCORES = 4096
"""So many scores, of all inputs and labels together, are made where they are asked for, in a
millisecond or two; more are made on another thread, so many at a time."""


@dataclass(frozen=True, slots=True, eq=False)
class Classified:
    """The inputs of a request, classified.

    Attributes:
        first: The vectors of the texts, or of each pair's first.
        second: Of each pair's second.
        probabilities: float32 [inputs, labels].
    """

    first: InputVectors
    second: InputVectors | None
    probabilities: Vectors


@router.post(
    "/classify",
    responses=answer(
        list[list[ScoredLabel]] | list[ExplainedAnswer],
        "The labels of each input, likeliest first; with `explain`, an object for each input",
    ),
    openapi_extra=body(ClassifyRequest),
)
@needs(Scope.EMBED)
async def classify(
    request: Annotated[ClassifyRequest, Depends(json_body(ClassifyRequest))], work: WorkOf
) -> Json:
    """Label texts. A classifier fitted on one language serves all that its encoder knows.

    Below the classifier's threshold the first label is `unknown`. With `labels` in place of a
    classifier, labels that are merely described in words are told apart, without an example.
    """
    if request.explain:
        check_count(
            request.inputs, MAX_EXPLAINED, field="inputs", remedy="Explain fewer at a time."
        )
    head, encoder = await _head_and_encoder(request, work)
    options = EmbedOptions(language=request.language, normalize=True)
    document = head.manifest.document if request.document is None else request.document_options
    first, second = _texts(request.inputs, head)
    found = await _classify(head, encoder, first, second, work, options=options, document=document)
    # The client's own words are no labels for everybody to read.
    counted = request.labels is None
    if not request.explain:
        return await _labelled(head, found.probabilities, request.top_k, work, counted=counted)
    scored = await work.compute(
        lambda: list(_scored(head, found.probabilities, request.top_k, work, counted=counted))
    )
    explanations = await explain(
        head, encoder, found.probabilities, work, options=options, document=document,
        first=first, second=second, vectors=(found.first, found.second),
    )  # fmt: skip
    return Json(
        [
            {"labels": labels, "explanation": explanation}
            for labels, explanation in zip(scored, explanations, strict=True)
        ]
    )


@router.post(
    "/predict",
    responses=answer(
        list[ScoredLabel] | list[list[ScoredLabel]],
        "The labels of one text, or a list of them for each of a list",
    ),
    openapi_extra=body(PredictRequest),
)
@needs(Scope.EMBED)
async def predict(
    request: Annotated[PredictRequest, Depends(json_body(PredictRequest))], work: WorkOf
) -> Json:
    """Label texts, in text-embeddings-inference's shape."""
    if request.raw_scores:
        raise InputError(
            "Scores are probabilities here; raw ones are not available.",
            field="raw_scores",
            given=True,
            remedy="Leave the field out.",
        )
    head = _head(request.classifier, work)
    encoder = _encoder(head, work, model=None, language=None)
    options = EmbedOptions(truncate=request.truncate is not False, cut=request.cut, normalize=True)
    rows = _rows(request.inputs, pairs=head.takes_pairs)
    first = [row[0] for row in rows]
    second = [row[1] for row in rows] if head.takes_pairs else None
    document = head.manifest.document
    found = await _classify(head, encoder, first, second, work, options=options, document=document)
    if not _is_one(request.inputs):
        return await _labelled(head, found.probabilities, None, work, counted=True)
    (scored,) = _scored(head, found.probabilities, None, work, counted=True)
    return Json(scored)


async def _classify(
    head: Head,
    encoder: Encoder,
    first: Sequence[str],
    second: Sequence[str] | None,
    work: Work,
    *,
    options: EmbedOptions,
    document: DocumentOptions | None,
) -> Classified:
    vectors = await embed_inputs(work, encoder, first, options, document=document)
    others = None
    if second is not None:
        others = await embed_inputs(work, encoder, second, options, document=document)
    both = vectors.vectors, None if others is None else others.vectors
    if len(first) * len(head.labels) <= FEW_SCORES:
        return Classified(vectors, others, head.predict(*both))
    return Classified(vectors, others, await work.compute(head.predict, *both))


async def _labelled(
    head: Head, probabilities: Vectors, top_k: int | None, work: Work, *, counted: bool
) -> Json:
    """Return the answer: the labels of each input.

    Args:
        head: Whose labels.
        probabilities: float32 [inputs, labels].
        top_k: So many of them; all where None.
        work: The request's.
        counted: Whether the metrics hear of the likeliest.
    """

    def answer_of() -> Json:
        return JsonRows(_scored(head, probabilities, top_k, work, counted=counted))

    if probabilities.size <= FEW_SCORES:
        return answer_of()
    return await work.compute(answer_of)


def _scored(
    head: Head, probabilities: Vectors, top_k: int | None, work: Work, *, counted: bool
) -> Iterator[Scored]:
    """Give the labels of each input, made as they are asked for: a row of many is 200 kB."""
    step = max(FEW_SCORES // len(head.labels), 1)
    for begin in range(0, len(probabilities), step):
        work.check()
        scored = best_labels(head, probabilities[begin : begin + step], top_k)
        if counted:
            work.metrics.observe_labels(head.name, [str(row[0]["label"]) for row in scored])
        yield from scored


async def _head_and_encoder(request: ClassifyRequest, work: Work) -> tuple[Head, Encoder]:
    if request.labels is None:
        head = _head(request.classifier, work)
        return head, _encoder(head, work, model=request.model, language=request.language)
    encoder = work.resources.encoder(request.model, language=request.language)
    for label in request.labels:
        check_label(label, field="labels")
    check_count(request.labels, work.max_inputs, field="labels")
    return await head_of_labels(request.labels, encoder, work), encoder


def _head(name: str | None, work: Work) -> Head:
    classifiers = work.resources.classifiers
    return classifiers.default() if name is None else classifiers.get(name)


def _encoder(head: Head, work: Work, *, model: str | None, language: str | None) -> Encoder:
    if model is not None:
        head.require_space(work.resources.encoder(model).manifest.space, model=model)
    return work.resources.encoder_for_space(
        head.manifest.space, preferred=head.manifest.encoder.name, named=model, language=language
    )


def _texts(inputs: list[str] | list[list[str]], head: Head) -> tuple[list[str], list[str] | None]:
    """Return the texts, and the second ones of pairs; whichever the head takes."""
    singles = [item for item in inputs if isinstance(item, str)]
    pairs = [item for item in inputs if not isinstance(item, str)]
    if head.takes_pairs and not singles:
        return [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    if not head.takes_pairs and not pairs:
        return singles, None
    wanted = 'pairs: [["premise", "hypothesis"], ...]' if head.takes_pairs else "texts: [...]"
    raise InputError(
        f"Classifier {head.name!r} takes {wanted}.",
        field="inputs",
        given=singles[0] if head.takes_pairs else pairs[0],
        remedy="Send that, or name another classifier (GET /classifiers).",
    )


def _is_one(inputs: JsonValue) -> bool:
    return isinstance(inputs, str) or (
        isinstance(inputs, list) and bool(inputs) and isinstance(inputs[0], str)
    )


def _rows(inputs: JsonValue, *, pairs: bool) -> list[list[str]]:
    """Return lists of one text each, or of two for `pairs`, from the shapes of `/predict`.

    To text-embeddings-inference a list of two strings is a pair, not two texts.
    """
    rows: list[JsonValue] = []
    if isinstance(inputs, str):
        rows = [[inputs]]
    elif isinstance(inputs, list) and inputs:
        rows = inputs if all(isinstance(row, list) for row in inputs) else [inputs]
    size = 2 if pairs else 1
    found = [
        [text for text in row if isinstance(text, str)]
        for row in rows
        if isinstance(row, list) and len(row) == size
    ]
    if found and len(found) == len(rows) and all(len(row) == size for row in found):
        return found
    if pairs:
        raise MalformedError(
            "This classifier takes pairs of texts.",
            field="inputs",
            given=inputs,
            remedy='Send [["Premise.", "Hypothesis."]], or name another classifier.',
        )
    raise MalformedError(
        "One text is due, or a list of lists of one text each; this classifier takes no pairs, and "
        "a plain list means a pair.",
        field="inputs",
        given=inputs,
        remedy='Send [["One."], ["Two."]], or POST /classify with ["One.", "Two."].',
    )
