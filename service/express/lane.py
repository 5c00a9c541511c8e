"""Plain requests for the vectors of short texts, answered without layers and tasks.

For one short text the way from the socket through ASGI to a handler and back costs more than the
vectors of a static model, and a third of those of a small transformer. Here a request goes to the
queue as soon as it is read, and its answer is written when its vectors are there.

Nothing is decided here that is decided elsewhere too: what is not plain, and every error before
anything is computed, leaves the request to the ordinary way, which then has it from the beginning.
"""

from __future__ import annotations

import asyncio
import contextvars
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

import orjson

from service.api.auth import check_key
from service.api.context import RequestContext, chosen_id, report
from service.api.hosts import is_own, names_of
from service.api.problems import count_rejection, problem_response
from service.api.responses import to_json
from service.api.room import SMALL_BODY_BYTES
from service.api.state import State
from service.api.work import too_late
from service.errors import InterlinguaError
from service.express.shapes import SHAPES, NotPlainError, Plain, Shape
from service.inference.encoder import Encoder
from service.security.exposure import answers_own_names_alone
from service.security.grants import Grant, Scope
from service.telemetry.logs import request_id
from service.telemetry.traces import Traces

log = logging.getLogger(__name__)

UNUSUAL = frozenset(
    {
        b"content-encoding",
        b"expect",
        b"origin",
        b"sec-fetch-site",
        b"transfer-encoding",
        b"upgrade",
        b"x-request-timeout",
    }
)
"""Headers that change what is done with a request, which is known where they are read."""

_JSON = frozenset({b"application/json", b"application/json; charset=utf-8"})

Headers = Sequence[tuple[bytes, bytes]]


class Connection(Protocol):
    """Where the answer goes."""

    def answer(self, status: int, headers: Headers, body: bytes) -> None:
        """Write the answer to the request at hand."""
        ...


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked, where, in which form, and of whom."""

    route: str
    shape: Shape
    plain: Plain
    encoder: Encoder


class Lane:
    """Takes the requests that are plain.

    Args:
        state: Of the application.
        traces: Nothing is taken where they are made: the ordinary way makes them.
    """

    def __init__(self, state: State, traces: Traces) -> None:
        self._state = state
        self._traces = traces
        settings = state.settings
        self._most_bytes = min(SMALL_BODY_BYTES, settings.max_body_bytes)
        self._names = names_of(settings.host) if answers_own_names_alone(settings) else None
        self._shapes = {} if traces.made else SHAPES

    def is_on_way(self, path: bytes) -> bool:
        """Return whether requests to `path` may be taken at all."""
        return path in self._shapes

    def begin(
        self, path: bytes, headers: Headers, body: bytes, connection: Connection
    ) -> Answering | None:
        """Queue a request; None where it is to take the ordinary way.

        Args:
            path: One that `is_on_way`.
            headers: Names in lower case.
            body: The whole.
            connection: Gets the answer later, never within this call.
        """
        context = RequestContext(chosen_id(headers), self._traces)
        token = request_id.set(context.id)
        try:
            return self._begin(context, path, headers, body, connection)
        except (NotPlainError, InterlinguaError, orjson.JSONDecodeError):
            return None
        except Exception:
            log.exception("a request failed unexpectedly; this is a bug")
            return None
        finally:
            request_id.reset(token)

    def _begin(
        self,
        context: RequestContext,
        path: bytes,
        headers: Headers,
        body: bytes,
        connection: Connection,
    ) -> Answering:
        shape, state = self._shapes[path], self._state
        context.grant = self._grant(headers, len(body), shape)
        value = orjson.loads(body)
        if not isinstance(value, dict):
            raise NotPlainError
        plain = shape.read(value)
        encoder = shape.choose(state.resources, plain)
        if len(plain.texts) > state.settings.max_inputs:
            raise NotPlainError
        asked = Asked(path.decode(), shape, plain, encoder)
        return Answering(state, context, asked, connection)

    def _grant(self, headers: Headers, size: int, shape: Shape) -> Grant:
        """Return what the client may do.

        Raises:
            NotPlainError: Something of `headers`, or the body's `size`, is out of the ordinary.
            AuthenticationError: The key is none.
        """
        by_name = dict(headers)
        plain = (
            size <= self._most_bytes
            and len(by_name) == len(headers)  # none comes twice
            and UNUSUAL.isdisjoint(by_name)
            and by_name.get(b"content-type") in _JSON
            and shape.takes_json(by_name.get(b"accept", b"").decode("latin-1"))
            and self._is_local(by_name.get(b"host"))
            and not self._state.leaving
        )
        if not plain:
            raise NotPlainError
        sent = by_name.get(b"authorization")
        grant = check_key(self._state.keys, None if sent is None else sent.decode("latin-1"))
        if Scope.EMBED not in grant.scopes or grant.rate is not None:
            raise NotPlainError
        return grant

    def _is_local(self, host: bytes | None) -> bool:
        given = None if host is None else host.decode("latin-1")
        return self._names is None or is_own(given, self._names)


class Answering:
    """A request from the queue to its answer; it is queued when this is made.

    Args:
        state: Of the application.
        context: Of the request.
        asked: What is wanted.
        connection: Where the answer goes.

    Raises:
        NotPlainError: The texts are too long to be tokenised here.
        InterlinguaError: They are not taken; nothing is queued or counted.
    """

    def __init__(
        self, state: State, context: RequestContext, asked: Asked, connection: Connection
    ) -> None:
        self._state = state
        self._context = context
        self._asked = asked
        self._connection = connection
        self._engine = state.resources.engine
        self._within = contextvars.copy_context()  # with the request's id, for the log
        client = context.grant.client
        options = asked.plain.options
        state.headcount.enter(client)
        self._engine.queue.enter(client)
        try:
            running = self._engine.start(
                asked.encoder,
                asked.plain.texts,
                replace(options, client=client) if client else options,
                when_over=partial(self._within.run, self._answer),
            )
            if running is None:
                raise NotPlainError
        except BaseException:
            self._leave()
            raise
        self._running = running
        state.metrics.inflight.inc()
        seconds = state.settings.request_timeout_seconds
        loop = asyncio.get_running_loop()
        self._deadline = loop.call_later(seconds, self._be_late, seconds)

    def abandon(self) -> None:
        """Drop what is not computed yet: the client is gone."""
        self._running.cancel()
        self._state.metrics.cancelled.inc()
        self._within.run(self._end, 0)

    def _answer(self) -> None:
        encoder, plain = self._asked.encoder, self._asked.plain
        try:
            embedded = self._running.embedded()
            self._context.add(embedded, plain.texts, model=encoder.name, on_gpu=encoder.on_gpu)
            self._state.metrics.observe_embedded(embedded)
            headers, content = self._asked.shape.write(plain, encoder, embedded)
            body = to_json(content)
        except Exception as error:
            self._refuse(error)
            return
        told = [(name.encode(), value.encode()) for name, value in headers.items()]
        told += [
            (b"content-length", str(len(body)).encode()),
            (b"content-type", b"application/json"),
        ]
        self._send(200, told, body)

    def _be_late(self, seconds: float) -> None:
        self._running.cancel()
        self._refuse(too_late(seconds))

    def _refuse(self, error: Exception) -> None:
        if not isinstance(error, InterlinguaError):
            log.error("a request failed unexpectedly; this is a bug", exc_info=error)
        count_rejection(error, self._state.metrics)
        scope = {"path": self._asked.route, "interlingua.context": self._context}
        response = problem_response(error, scope)
        self._send(response.status_code, response.raw_headers, bytes(response.body))

    def _send(self, status: int, headers: Headers, body: bytes) -> None:
        self._connection.answer(status, [*headers, *self._context.headers()], body)
        self._end(status)

    def _end(self, status: int) -> None:
        self._deadline.cancel()
        self._leave()
        metrics, route = self._state.metrics, self._asked.route
        metrics.inflight.dec()
        report(self._context, metrics, method="POST", route=route, status=status)

    def _leave(self) -> None:
        client = self._context.grant.client
        self._state.headcount.leave(client)
        self._engine.queue.leave(client)
