"""Large requests for vectors are refused before anything is spent on them where the queue is full.

To read and parse one costs as much as a static model takes to embed it, and to bring a refusal
through routing, dependencies and handlers costs three times what it takes here: a flood would be
refused at the price of what everybody gets.
"""

from __future__ import annotations

from collections.abc import Collection

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from service.api.auth import check_key
from service.api.context import context_of
from service.api.problems import count_rejection, problem_response
from service.api.state import Phase, State
from service.errors import AuthenticationError, OverloadedError

SMALL_BODY_BYTES = 1_000
"""To parse so much costs no more than to refuse it."""


class RoomMiddleware:
    """Answers with 429 what would not find room in the queue.

    Args:
        app: What is spared.
        state: Of the application.
        paths: Where texts are posted to be embedded.
    """

    def __init__(self, app: ASGIApp, state: State, paths: Collection[str]) -> None:
        self._app = app
        self._state = state
        self._paths = frozenset(paths)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "http" and scope["path"] in self._paths:
            try:
                self._check_room(Request(scope))
            except OverloadedError as error:
                count_rejection(error, self._state.metrics)
                await problem_response(error, scope)(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _check_room(self, request: Request) -> None:
        if self._state.phase is not Phase.READY:
            return
        length = request.headers.get("content-length", "")
        queue = self._state.resources.engine.queue
        if not length.isdigit() or int(length) <= SMALL_BODY_BYTES or not queue.may_be_crowded:
            return
        try:
            grant = check_key(self._state.keys, request.headers.get("authorization"))
        except AuthenticationError:
            return  # it is told so where everybody is
        context_of(request).grant = grant
        queue.check_not_crowded(client=grant.client)
