"""Around every request: its id, its times, its metrics and one line in the log."""

from __future__ import annotations

import asyncio
import logging
import random
import re
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.api.problems import count_rejection, problem_response
from service.api.state import State
from service.errors import UnavailableError
from service.inference.request import Embedded
from service.security.grants import EVERYTHING, Grant
from service.telemetry.logs import request_id, trace_id
from service.telemetry.metrics import Metrics
from service.telemetry.traces import RequestSpan, Traces

log = logging.getLogger("service.access")

CLIENT_GONE = 499
"""Status in logs and metrics for requests that nobody waits for any more; never sent."""

LISTED_POSITIONS = 64
"""How many positions of truncated texts a header lists; their number is always given whole."""

_ids = random.Random()  # noqa: S311 - a name for the logs, no secret; urandom is a system call
_ACCEPTED_ID = re.compile(r"[\x21-\x7e]{1,128}")


@dataclass(slots=True)
class RequestContext:
    """What is learnt about a request while it is answered.

    Attributes:
        id: The client's `x-request-id`, or one made here.
        started: `time.perf_counter()` when it came.
        grant: What the key it came with is good for.
        model: The encoder that answers it.
        on_gpu: Whether it does so on a GPU.
        texts: How many texts were embedded.
        characters: Of these texts.
        tokens: Of these texts, after they were cut.
        truncated: Positions of inputs that were cut: texts, or documents made of several.
        tokenize_seconds: Of these texts, as the two that follow.
        queue_seconds: That they waited for the model.
        inference_seconds: That the model took.
        search_seconds: Of the search; None where nothing was searched.
        traces: Where spans of its parts are made.
    """

    id: str
    traces: Traces = field(default_factory=Traces)
    started: float = field(default_factory=time.perf_counter)
    grant: Grant = EVERYTHING
    model: str | None = None
    on_gpu: bool = False
    texts: int = 0
    characters: int = 0
    tokens: int = 0
    truncated: list[int] = field(default_factory=list)
    tokenize_seconds: float = 0.0
    queue_seconds: float = 0.0
    inference_seconds: float = 0.0
    search_seconds: float | None = None

    def add(
        self,
        embedded: Embedded,
        texts: Sequence[str],
        *,
        model: str,
        on_gpu: bool = False,
        places: Sequence[int] | None = None,
    ) -> None:
        """Take the figures of embedded `texts`; a streamed request adds several times.

        Args:
            embedded: The figures.
            texts: Of what.
            model: That embedded them.
            on_gpu: Whether it did so on a GPU.
            places: Of the input that each text is a part of, ascending; each its own where None.
        """
        self.model = model
        self.on_gpu = on_gpu
        for position in embedded.truncated:
            place = position + self.texts if places is None else places[position]
            if place not in self.truncated[-1:]:
                self.truncated.append(place)
        self.texts += len(texts)
        self.characters += sum(map(len, texts))
        self.tokens += sum(embedded.tokens)
        self.tokenize_seconds += embedded.tokenize_seconds
        self.queue_seconds += embedded.queue_seconds
        self.inference_seconds += embedded.inference_seconds

    def headers(self) -> Iterator[tuple[bytes, bytes]]:
        """Give the response headers: milliseconds, counts, and what browsers draw.

        Their names are those of text-embeddings-inference, which says the total time twice.
        """
        yield b"x-request-id", self.id.encode("ascii")
        yield b"x-content-type-options", b"nosniff"
        total = time.perf_counter() - self.started
        yield b"x-total-time", _milliseconds(total)
        parts = {}
        if self.model is not None:
            yield b"x-model", self.model.encode("ascii", "replace")
        if self.texts:
            parts = {
                "tokenization": self.tokenize_seconds,
                "queue": self.queue_seconds,
                "inference": self.inference_seconds,
            }
            for name, seconds in parts.items():
                yield f"x-{name}-time".encode(), _milliseconds(seconds)
            yield b"x-compute-type", b"gpu+optimized" if self.on_gpu else b"cpu+optimized"
            yield b"x-compute-time", _milliseconds(total)
            yield b"x-compute-tokens", str(self.tokens).encode()
            yield b"x-compute-characters", str(self.characters).encode()
        if self.search_seconds is not None:
            parts["search"] = self.search_seconds
        if self.truncated:
            listed = ", ".join(map(str, self.truncated[:LISTED_POSITIONS]))
            yield b"x-truncated", listed.encode()
            yield b"x-truncated-count", str(len(self.truncated)).encode()
        timing = [f"{name};dur={seconds * 1000:.3f}" for name, seconds in parts.items()]
        yield b"server-timing", ", ".join([*timing, f"total;dur={total * 1000:.3f}"]).encode()


def context_of(request: Request) -> RequestContext:
    """Return the context that the middleware below made for `request`."""
    context: RequestContext = request.scope["interlingua.context"]
    return context


class ContextMiddleware:
    """The outermost layer: nothing passes it unnamed, uncounted or unanswered."""

    def __init__(self, app: ASGIApp, state: State, traces: Traces) -> None:
        self._app = app
        self._state = state
        self._metrics = state.metrics
        self._traces = traces

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        with self._traces.request(scope["method"], scope["path"], scope["headers"]) as span:
            await self._answer(scope, receive, send, span)

    async def _answer(self, scope: Scope, receive: Receive, send: Send, span: RequestSpan) -> None:
        context = RequestContext(chosen_id(scope["headers"]), self._traces)
        scope["interlingua.context"] = context
        status = 0

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], *context.headers()]
            try:
                await send(message)
            except OSError as error:  # what servers raise where the connection is lost
                raise ClientDisconnect from error

        token, trace_token = request_id.set(context.id), trace_id.set(span.trace_id)
        self._metrics.inflight.inc()
        try:
            await self._app(scope, receive, send_with_headers)
        except ClientDisconnect:
            self._metrics.cancelled.inc()
            status = CLIENT_GONE
        except asyncio.CancelledError:
            # At the end of the drain uvicorn cancels what still runs, and answers a bare 500 where
            # that comes back to it.
            if not self._state.leaving:
                raise
            if status == 0:
                stopped = _stopped()
                count_rejection(stopped, self._metrics)
                with suppress(ClientDisconnect):
                    await problem_response(stopped, scope)(scope, receive, send_with_headers)
        except Exception as error:
            log.exception("a request failed unexpectedly; this is a bug")
            if status == 0:
                with suppress(ClientDisconnect):
                    await problem_response(error, scope)(scope, receive, send_with_headers)
        finally:
            self._metrics.inflight.dec()
            route = getattr(scope.get("route"), "path", "unmatched")
            report(context, self._metrics, method=scope["method"], route=route, status=status)
            span.answered(scope["method"], route, status or CLIENT_GONE, request_id=context.id)
            request_id.reset(token)
            trace_id.reset(trace_token)


def _stopped() -> UnavailableError:
    return UnavailableError(
        "The service stopped before this was answered.",
        remedy="Send it again: to another replica, or once the service is back.",
    )


def report(
    context: RequestContext, metrics: Metrics, *, method: str, route: str, status: int
) -> None:
    """Count a request that is over, and write its line in the log.

    Args:
        context: What was learnt about it.
        metrics: Where it is counted.
        method: Of HTTP.
        route: The template of its address.
        status: That was sent; 0 where none was.
    """
    seconds = time.perf_counter() - context.started
    status = status or CLIENT_GONE
    metrics.observe_request(route, status, seconds)
    if log.isEnabledFor(logging.INFO):
        fields = {"route": route, "status": status, "seconds": seconds}
        if context.grant.client:
            fields["client"] = context.grant.client
        log.info("%s", method, extra=fields)


def chosen_id(headers: Iterable[tuple[bytes, bytes]]) -> str:
    """Return the id that a client gave its request, or a new one."""
    for name, value in headers:
        if name == b"x-request-id":
            given = str(value, "latin-1")
            if _ACCEPTED_ID.fullmatch(given):
                return given
    return f"{_ids.getrandbits(128):032x}"


def _milliseconds(seconds: float) -> bytes:
    return f"{seconds * 1000:.2f}".encode()
