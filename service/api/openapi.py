"""The OpenAPI document: what the routes read and answer, said where FastAPI cannot see it."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from service.api.body import NDJSON
from service.api.schemas.classifiers import FitRequest
from service.api.schemas.classify import ClassifyRequest, PredictRequest
from service.api.schemas.corpora import (
    CreateCorpusRequest,
    DeleteRequest,
    ReencodeRequest,
    UpsertRequest,
)
from service.api.schemas.embed import EmbedRequest, SimilarityRequest
from service.api.schemas.models import Problem
from service.api.schemas.openai import EmbeddingsRequest, OpenAIError
from service.api.schemas.projection import ProjectionRequest
from service.api.schemas.rerank import RerankDocumentsRequest, RerankRequest
from service.api.schemas.similar import SimilarRequest
from service.api.schemas.tokenize import DecodeRequest, TokenizeRequest

REQUESTS: tuple[type[BaseModel], ...] = (
    ClassifyRequest,
    CreateCorpusRequest,
    DecodeRequest,
    DeleteRequest,
    EmbedRequest,
    EmbeddingsRequest,
    FitRequest,
    PredictRequest,
    ReencodeRequest,
    ProjectionRequest,
    RerankDocumentsRequest,
    RerankRequest,
    SimilarRequest,
    SimilarityRequest,
    TokenizeRequest,
    UpsertRequest,
)

_SCHEMAS = "#/components/schemas/"

_STAND_FOR: dict[str, dict[str, str | int]] = {
    "/classifiers/": {"name": "desk", "version": 1},
    "/corpora/": {"name": "notes", "id": "1"},
    "/jobs/": {"id": "8f3a61c05be2d794"},
    "/v1/models/": {"name": "interlingua-mini"},
}
"""What a path begins with -> what stands for its placeholders in examples: curl reads braces as a
pattern."""

_REASONS = {
    400: "The request cannot be read",
    401: "A valid API key is needed",
    403: "The key has not the scope, or may not touch the corpus; without keys, a foreign page",
    404: "There is nothing of this name",
    408: "The body did not come in time",
    409: "It does not fit what is there",
    413: "A limit is passed",
    415: "This content type is not taken",
    422: "A value cannot be used",
    429: "The queue is full, or this key asks too often; see Retry-After",
    503: "Loading, draining, or the storage refused; see Retry-After",
    504: "The request's time ran out",
}


def _responses(media_type: str, schema: str, statuses: list[int]) -> dict[int | str, Any]:
    content = {media_type: {"schema": {"$ref": _SCHEMAS + schema}}}
    return {status: {"description": _REASONS[status], "content": content} for status in statuses}


PROBLEMS = _responses("application/problem+json", Problem.__name__, list(_REASONS))
"""For a router's `responses`: every refusal that a route of ours may give."""

OPENAI_PROBLEMS = _responses(
    "application/json", OpenAIError.__name__, [s for s in _REASONS if s not in (409, 422)]
)
"""The same below /v1, in OpenAI's shape."""


def answer(model: Any, description: str, *, status: int = 200) -> dict[int | str, Any]:  # noqa: ANN401
    """Return a route's `responses` for success: `model` is documented, never run."""
    return {status: {"model": model, "description": description}}


def body(model: type[BaseModel], *, required: bool = True, lines: bool = False) -> dict[str, Any]:
    """Return a route's `openapi_extra` for a body that `service.api.body` reads.

    Args:
        model: One of `REQUESTS`.
        required: Whether there must be a body.
        lines: Whether the body may be a stream of JSON lines instead.
    """
    content: dict[str, Any] = {"application/json": {"schema": {"$ref": _SCHEMAS + model.__name__}}}
    if lines:
        content[NDJSON[0]] = {
            "schema": {"type": "string", "description": "One document a line"},
            "example": '{"id": "1", "text": "Ice floats on water.", "language": "en"}\n',
        }
    return {"requestBody": {"required": required, "content": content}}


def describe(app: FastAPI) -> None:
    """Have `app.openapi` return the whole document, made once."""

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _build(app)
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]  # FastAPI's documented way


def _build(app: FastAPI) -> dict[str, Any]:
    document = get_openapi(
        title=app.title,
        version=app.version,
        summary=app.summary,
        description=app.description,
        routes=app.routes,
    )
    wanted = [(model, "validation") for model in (*REQUESTS, Problem, OpenAIError)]
    _, definitions = models_json_schema(
        wanted,  # type: ignore[arg-type]  # mypy widens the literal
        ref_template=_SCHEMAS + "{model}",
    )
    components = document.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    schemas.update(definitions["$defs"])
    # FastAPI's own, which it adds where a 422 is not declared: below /v1 there is none.
    for path, methods in document["paths"].items():
        for route in methods.values() if path.startswith("/v1/") else ():
            route["responses"].pop("422", None)
    for path, methods in document["paths"].items():
        named = next((e for start, e in _STAND_FOR.items() if path.startswith(start)), {})
        for parameter in (p for route in methods.values() for p in route.get("parameters", ())):
            if parameter["in"] == "path":
                parameter["schema"]["examples"] = [named[parameter["name"]]]
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    components["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
    document["security"] = [{"key": []}, {}]
    return document
