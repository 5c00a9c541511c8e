"""POST /projection: texts on a plane, for people to look at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated

import numpy as np
import numpy.typing as npt
from fastapi import APIRouter, Depends

from service.api.auth import needs
from service.api.body import json_body
from service.api.limits import check_count
from service.api.openapi import answer, body
from service.api.responses import Json
from service.api.schemas.projection import (
    MAX_MATRIX,
    MAX_POINTS,
    ProjectionAnswer,
    ProjectionRequest,
)
from service.api.work import WorkOf
from service.errors import InputError
from service.inference.request import EmbedOptions
from service.inference.session import Vectors
from service.projection.pca import project_linearly
from service.projection.tsne import project_by_neighbours
from service.security.grants import Scope
from service.text.language import detector

router = APIRouter(tags=["projection"])

_FEWEST_FOR_TSNE = 4
_FEWEST_BY_DEFAULT = 8
_USUAL_PERPLEXITY = 30.0


@router.post(
    "/projection",
    responses=answer(ProjectionAnswer, "The texts on a plane"),
    openapi_extra=body(ProjectionRequest),
)
@needs(Scope.EMBED)
async def projection(
    request: Annotated[ProjectionRequest, Depends(json_body(ProjectionRequest))], work: WorkOf
) -> Json:
    """Lay texts out on a plane. Distances on it are for the eye: compare with `cosines`."""
    check_count(request.inputs, MAX_POINTS, field="inputs", remedy="Send a sample of them.")
    method, perplexity = _method(request)
    encoder = work.resources.encoder(request.model, language=request.language)
    options = EmbedOptions(language=request.language, normalize=True)
    vectors = (await work.embed(encoder, request.inputs, options)).vectors
    # One at a time: it takes a core for up to some seconds, which searches must not wait for.
    points, explained = await work.compute_in_turn(
        work.one_projection, _project, vectors, method, perplexity, work.check
    )
    languages = await work.compute(
        _languages, request.inputs, request.language, tuple(encoder.manifest.languages), work.check
    )
    cosines = vectors @ vectors.T if len(vectors) <= MAX_MATRIX else None
    return Json(
        {
            "method": method,
            "points": points.round(4),
            "languages": languages,
            "explained": explained,
            "cosines": cosines.round(4) if cosines is not None else None,
        }
    )


def _method(request: ProjectionRequest) -> tuple[str, float]:
    count = len(request.inputs)
    method = request.method
    if method == "auto":
        method = "tsne" if count >= _FEWEST_BY_DEFAULT else "pca"
    if method == "tsne" and count < _FEWEST_FOR_TSNE:
        raise InputError(
            f"t-SNE needs {_FEWEST_FOR_TSNE} texts or more.",
            field="inputs",
            given=count,
            remedy='Send more, or "method": "pca".',
        )
    most = max(1.0, (count - 1) / 3)
    if request.perplexity is not None and request.perplexity > most:
        raise InputError(
            f"{count} texts allow a perplexity of {most:g} at most.",
            field="perplexity",
            given=request.perplexity,
            remedy="Lower it, or leave it out.",
        )
    return method, request.perplexity or min(_USUAL_PERPLEXITY, most)


def _project(
    vectors: Vectors, method: str, perplexity: float, check: Callable[[], None]
) -> tuple[npt.NDArray[np.float64], float | None]:
    explained: float | None = None
    if method == "pca":
        points, explained = project_linearly(vectors)
    else:
        points = project_by_neighbours(vectors, perplexity=perplexity, check=check)
    # One scale for both axes, so that distances stay comparable.
    return points / max(float(np.abs(points).max()), 1e-9), explained


def _languages(
    texts: Sequence[str],
    named: str | None,
    candidates: tuple[str, ...],
    check: Callable[[], None],
) -> list[str | None]:
    if named is not None:
        return [named] * len(texts)
    languages: list[str | None] = []
    for text in texts:
        check()
        detected = detector(candidates).detect(text)
        languages.append(detected.language if detected else None)
    return languages
