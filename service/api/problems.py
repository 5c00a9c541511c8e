"""Every error as an answer: the one table from exception to status, and its two renderings.

RFC 9457 `application/problem+json` everywhere, and OpenAI's error object below `/v1`, since its
clients read that. The addresses of text-embeddings-inference add its two members to the problem.
"""

from __future__ import annotations

import http
import json
import logging
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import JsonValue
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Scope

from service import errors
from service.api.validation import explain
from service.telemetry.metrics import Metrics

log = logging.getLogger(__name__)

PROBLEM_TYPE = "application/problem+json"
FIRST_OF_OURS = 500
"""Statuses from here on are not the client's doing."""
TYPE_PREFIX = "urn:interlingua:problem:"

OPENAI_ALIASES = frozenset({"/embeddings", "/v2/rerank"})
"""Addresses outside `/v1` whose errors are OpenAI's: the same without it, or of another version."""

TEI_PATHS = frozenset(
    {"/", "/embed", "/similarity", "/rerank", "/predict", "/tokenize", "/decode", "/info"}
)
"""Addresses that text-embeddings-inference has too."""

_TEI_TYPES = {429: "Overloaded", 503: "Unhealthy", 500: "Backend", 504: "Backend"}

LOADING_SECONDS = 2.0
"""Retry-After where nothing better is known: models load in about that time."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What a class of errors is to a client.

    Attributes:
        status: The HTTP status.
        slug: The stable end of the problem's `type`; OpenAI's `code`.
        title: The same for every error of the kind.
    """

    status: int
    slug: str
    title: str


KINDS: dict[type[Exception], Kind] = {
    errors.MalformedError: Kind(400, "malformed", "The request cannot be read"),
    errors.AuthenticationError: Kind(401, "unauthenticated", "A valid API key is needed"),
    errors.ForbiddenError: Kind(403, "forbidden", "This is not allowed"),
    errors.NotFoundError: Kind(404, "not-found", "There is nothing of this name"),
    errors.ConflictError: Kind(409, "conflict", "It does not fit what is there"),
    errors.SlowClientError: Kind(408, "too-slow", "The body did not come in time"),
    errors.TooLargeError: Kind(413, "too-large", "A limit is passed"),
    errors.MediaTypeError: Kind(415, "media-type", "This content type is not taken here"),
    errors.InputError: Kind(422, "invalid-input", "A value cannot be used"),
    errors.OverloadedError: Kind(429, "overloaded", "The queue is full"),
    errors.RateLimitError: Kind(429, "rate-limited", "This key asks too often"),
    errors.StorageError: Kind(503, "storage", "The storage refused"),
    errors.UnavailableError: Kind(503, "unavailable", "The service is not ready"),
    errors.DeadlineError: Kind(504, "deadline", "The request's time ran out"),
    errors.BackendError: Kind(500, "model-failed", "The model failed"),
    errors.BundleError: Kind(500, "damaged", "A file of the service is damaged"),
    Exception: Kind(500, "internal", "The service failed"),
}
"""Looked up along the class's bases, so a more special error needs a row only if it differs."""

GENERAL_REMEDY = "Correct it and send it again; GET /docs shows how each request looks."
"""For errors of the client's whose message says all, so that no problem is without a way on."""

HANDLED = (errors.InterlinguaError, HTTPException, RequestValidationError)
"""What a handler may raise; all else is a bug, and answered as one further out."""

ProblemHandler = Callable[[Request, Exception], Awaitable[Response]]

REJECTIONS = frozenset({401, 403, 408, 413, 429, 503, 504})
"""Statuses that count as `interlingua_rejected_total`: refused whatever the content was."""


@dataclass(frozen=True, slots=True)
class Problem:
    """An error, ready to be rendered."""

    kind: Kind
    detail: str
    field: str | None = None
    given: str | None = None
    remedy: str | None = None
    retry_after_seconds: float | None = None
    done: Mapping[str, int] | None = None

    def members(self, request_id: str | None) -> dict[str, JsonValue]:
        """Return RFC 9457's members and ours; those without a value are left out."""
        members: dict[str, JsonValue] = {
            "type": TYPE_PREFIX + self.kind.slug,
            "title": self.kind.title,
            "status": self.kind.status,
            "detail": self.detail,
            "field": self.field,
            "given": self.given,
            "remedy": self.remedy,
            "done": None if self.done is None else dict(self.done),
            "request_id": request_id,
        }
        return {name: value for name, value in members.items() if value is not None}

    def text_embeddings_inference(self) -> dict[str, JsonValue]:
        """Return the two members that clients of text-embeddings-inference read."""
        message = self.detail if self.remedy is None else f"{self.detail} {self.remedy}"
        return {"error": message, "error_type": _TEI_TYPES.get(self.kind.status, "Validation")}

    def openai(self) -> dict[str, object]:
        """Return OpenAI's error object."""
        message = self.detail if self.remedy is None else f"{self.detail} {self.remedy}"
        return {
            "error": {
                "message": message,
                "type": _openai_type(self.kind.status),
                "param": self.field,
                "code": self.kind.slug,
            }
        }


def kind_of(error: type[Exception]) -> Kind:
    """Return the row of the table for a class of errors."""
    return next(KINDS[base] for base in error.__mro__ if base in KINDS)


def problem_of(error: Exception) -> Problem:
    """Return what a client is told of `error`; of an unforeseen one, nothing but that it was."""
    if isinstance(error, HTTPException):
        return _problem_of_http(error)
    if isinstance(error, RequestValidationError):
        error = explain(error.errors())
    kind = kind_of(type(error))
    if not isinstance(error, errors.InterlinguaError):
        return Problem(
            kind,
            "An unforeseen error; it was logged with this request's id.",
            remedy="Report it with the id if it comes again.",
        )
    if isinstance(error, errors.BundleError):
        # What it says names files of the machine: that is for the operator.
        return Problem(
            kind,
            "The files of a model or classifier cannot be used; the service's log names them.",
            remedy="The operator restores them from a copy, or drops the classifier.",
        )
    retry = None
    if isinstance(error, errors.OverloadedError):
        retry = error.retry_after_seconds
    elif kind.status == http.HTTPStatus.SERVICE_UNAVAILABLE:
        retry = LOADING_SECONDS
    remedy = error.remedy or (GENERAL_REMEDY if kind.status < FIRST_OF_OURS else None)
    return Problem(kind, error.message, error.field, error.given, remedy, retry, error.done)


def problem_response(
    error: Exception, scope: Scope, *, routes: Sequence[APIRoute] = ()
) -> Response:
    """Return the answer to a request that ended in `error`.

    Args:
        error: What it ended in.
        scope: The request's.
        routes: All that there are; they say what an address takes.
    """
    problem = problem_of(error)
    status = problem.kind.status
    headers: dict[str, str] = {}
    if isinstance(error, HTTPException) and error.headers:
        headers.update(error.headers)
    if status == http.HTTPStatus.METHOD_NOT_ALLOWED and routes:
        headers["Allow"] = allowed_methods(scope["path"], routes, headers.get("Allow", ""))
        problem = replace(problem, remedy=f"It takes {headers['Allow']}.")
    if problem.retry_after_seconds is not None:
        headers["retry-after"] = str(math.ceil(problem.retry_after_seconds))
    if status == http.HTTPStatus.REQUEST_TIMEOUT:
        headers["connection"] = "close"  # the rest of the body may still be on its way
    if status == http.HTTPStatus.UNAUTHORIZED:
        headers["www-authenticate"] = "Bearer"
    if scope["path"].startswith("/v1/") or scope["path"] in OPENAI_ALIASES:
        # OpenAI knows no 422, and its clients raise another class for it.
        status = 400 if status == http.HTTPStatus.UNPROCESSABLE_ENTITY else status
        return _json(problem.openai(), status, "application/json", headers)
    context = scope.get("interlingua.context")
    members = problem.members(context.id if context else None)
    if scope["path"] in TEI_PATHS:
        members |= problem.text_embeddings_inference()
    return _json(members, status, PROBLEM_TYPE, headers)


def allowed_methods(path: str, routes: Sequence[APIRoute], known: str) -> str:
    """Return what an address takes: Starlette names the methods of the first of its routes alone.

    Args:
        path: The address.
        routes: All that there are.
        known: What Starlette says.
    """
    methods = {method.strip() for method in known.split(",") if method.strip()}
    for route in routes:
        if route.path_regex.match(path):
            methods |= route.methods or set()
    if "GET" in methods:
        methods.add("HEAD")
    return ", ".join(sorted(methods))


def problem_handler(metrics: Metrics, *, routes: Sequence[APIRoute] = ()) -> ProblemHandler:
    """Return what makes an answer of an error among `HANDLED`, and counts rejections.

    Args:
        metrics: Where they are counted.
        routes: All that there are, for requests by a method that their address does not take.
    """

    async def answer(request: Request, error: Exception) -> Response:
        count_rejection(error, metrics)
        if isinstance(error, errors.StorageError | errors.BundleError):
            log.error("%s", error)  # with the path, which the client is not told
        return problem_response(error, request.scope, routes=routes)

    return answer


def count_rejection(error: Exception, metrics: Metrics) -> None:
    """Count `error` if it is a refusal whatever the content."""
    kind = kind_of(type(error))
    if kind.status in REJECTIONS:
        metrics.rejected.labels(kind.slug).inc()


def _problem_of_http(error: HTTPException) -> Problem:
    phrase = http.HTTPStatus(error.status_code).phrase
    kind = Kind(error.status_code, phrase.lower().replace(" ", "-"), phrase)
    if error.status_code == http.HTTPStatus.NOT_FOUND:
        return Problem(kind, "No such address.", remedy="GET /docs lists what there is.")
    if error.status_code == http.HTTPStatus.METHOD_NOT_ALLOWED:
        return Problem(
            kind, "This address does not take the method.", remedy="GET /docs lists what there is."
        )
    return Problem(kind, str(error.detail))


def _openai_type(status: int) -> str:
    if status == http.HTTPStatus.UNAUTHORIZED:
        return "authentication_error"
    if status == http.HTTPStatus.FORBIDDEN:
        return "permission_error"
    if status == http.HTTPStatus.TOO_MANY_REQUESTS:
        return "rate_limit_error"
    return "invalid_request_error" if status < FIRST_OF_OURS else "server_error"


def _json(
    content: Mapping[str, object], status: int, media_type: str, headers: dict[str, str]
) -> Response:
    # The standard library's encoder, since an error may quote what orjson refuses to write; a lone
    # surrogate becomes the JSON escape that it came as.
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return Response(text.encode("utf-8", "backslashreplace"), status, headers, media_type)
