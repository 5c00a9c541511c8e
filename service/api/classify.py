"""POST /classify and /predict: labels of texts, in any language the encoder knows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import numpy as np
from fastapi import APIRouter, Depends
from pydantic import JsonValue

from service.api.body import json_body
from service.api.openapi import answer, body
from service.api.responses import Json
from service.api.schemas.classify import ClassifyRequest, PredictRequest, ScoredLabel
from service.api.state import Resources
from service.api.work import Work, WorkOf
from service.classification.head import Head
from service.errors import InputError, MalformedError, NotFoundError
from service.inference.engine import EmbedOptions
from service.inference.session import Vectors

router = APIRouter(tags=["classify"])

Scored = list[dict[str, object]]


@router.post(
    "/classify",
    responses=answer(list[list[ScoredLabel]], "The labels of each text, likeliest first"),
    openapi_extra=body(ClassifyRequest),
)
async def classify(
    request: Annotated[ClassifyRequest, Depends(json_body(ClassifyRequest))], work: WorkOf
) -> Json:
    """Label texts. A classifier fitted on one language serves all that its encoder knows."""
    head = _head(work.resources, request.classifier)
    scored = await _classify(
        head, request.inputs, work, model=request.model,
        options=EmbedOptions(language=request.language), top_k=request.top_k,
    )  # fmt: skip
    return Json(scored)


@router.post(
    "/predict",
    responses=answer(
        list[ScoredLabel] | list[list[ScoredLabel]],
        "The labels of one text, or a list of them for each of a list",
    ),
    openapi_extra=body(PredictRequest),
)
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
    texts = _single_texts(request.inputs)
    head = _head(work.resources, request.classifier)
    options = EmbedOptions(truncate=request.truncate is not False)
    scored = await _classify(head, texts, work, model=None, options=options, top_k=None)
    return Json(scored[0] if isinstance(request.inputs, str) else scored)


async def _classify(
    head: Head,
    texts: Sequence[str],
    work: Work,
    *,
    model: str | None,
    options: EmbedOptions,
    top_k: int | None,
) -> list[Scored]:
    encoder = work.resources.encoder_for_space(
        head.manifest.space,
        preferred=head.manifest.encoder.name,
        named=model,
        language=options.language,
    )
    embedded = await work.embed(encoder, texts, options)
    probabilities = await work.run(head.predict, embedded.vectors)
    scored = _best(head.labels, probabilities, top_k)
    work.metrics.observe_labels(head.name, [str(row[0]["label"]) for row in scored])
    return scored


def _best(labels: Sequence[str], probabilities: Vectors, top_k: int | None) -> list[Scored]:
    order = np.argsort(-probabilities, axis=1, kind="stable")[:, :top_k]
    return [
        [{"label": labels[column], "score": round(row[column], 6)} for column in columns]
        for row, columns in zip(probabilities.tolist(), order.tolist(), strict=True)
    ]


def _head(resources: Resources, name: str | None) -> Head:
    if name is not None:
        return resources.classifiers.get(name)
    heads = resources.classifiers.list()
    if not heads:
        raise NotFoundError(
            "No classifier is loaded.",
            field="classifier",
            remedy="Start the service with --head DIR.",
        )
    return heads[0]


def _single_texts(inputs: JsonValue) -> list[str]:
    if isinstance(inputs, str):
        return [inputs]
    if isinstance(inputs, list) and inputs:
        # In text-embeddings-inference a list of two strings is a pair, not two texts.
        rows = inputs if all(isinstance(row, list) for row in inputs) else [inputs]
        texts = [row[0] for row in rows if isinstance(row, list) and len(row) == 1]
        strings = [text for text in texts if isinstance(text, str)]
        if len(strings) == len(rows):
            return strings
    raise MalformedError(
        "One text is due, or a list of lists of one text each; pairs of texts are not classified "
        "here, and a plain list means a pair.",
        field="inputs",
        given=inputs,
        remedy='Send [["One."], ["Two."]], or POST /classify with ["One.", "Two."].',
    )
