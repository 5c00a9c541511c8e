"""What does not find room is refused before anything is spent on it.

Two things are bounded here: how many requests are answered at a time, whatever they ask, and large
requests for vectors where the queue of texts is full. To read and parse one of those costs as much
as a static model takes to embed it, and to bring a refusal through routing, dependencies and
handlers costs three times what it takes here: a flood would be refused at the price of what
everybody gets. Both are fair between keys: none fills more than four fifths, nor do all who come
without one where keys are set.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from service.api.auth import grant_of
from service.api.problems import count_rejection, problem_response
from service.api.state import Phase, State
from service.errors import AuthenticationError, OverloadedError

SMALL_BODY_BYTES = 1_000
"""To parse so much costs no more than to refuse it."""


class RoomMiddleware:
    """Answers with 429 what would not find room.

    Args:
        app: What is spared.
        state: Of the application.
        embedding: Paths where texts are posted to be embedded.
        probes: Paths that are answered however many requests there are.
    """

    def __init__(
        self, app: ASGIApp, state: State, *, embedding: Collection[str], probes: Collection[str]
    ) -> None:
        self._app = app
        self._state = state
        self._embedding = frozenset(embedding)
        self._probes = frozenset(probes)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http" or scope["path"] in self._probes:
            await self._app(scope, receive, send)
            return
        try:
            with self._admitted(Request(scope)):
                await self._app(scope, receive, send)
        except OverloadedError as error:  # those of routes are answered further in
            count_rejection(error, self._state.metrics)
            await problem_response(error, scope)(scope, receive, send)

    @contextmanager
    def _admitted(self, request: Request) -> Iterator[None]:
        client = self._client_of(request)
        headcount = self._state.headcount
        headcount.enter(client)
        try:
            self._check_queue(request, client)
            yield
        finally:
            headcount.leave(client)

    def _client_of(self, request: Request) -> str:
        try:
            return grant_of(request, self._state.keys).client
        except AuthenticationError:
            return ""  # it is told so where everybody is

    def _check_queue(self, request: Request, client: str) -> None:
        if request.scope["path"] not in self._embedding or self._state.phase is not Phase.READY:
            return
        length = request.headers.get("content-length", "")
        if length.isdigit() and int(length) > SMALL_BODY_BYTES:
            self._state.resources.engine.queue.check_not_crowded(client=client)
