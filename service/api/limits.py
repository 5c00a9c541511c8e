"""What a request may weigh, checked before anything of it is parsed."""

from __future__ import annotations

from collections.abc import Sized

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.api.body import NDJSON
from service.api.problems import count_rejection, problem_response
from service.errors import TooLargeError
from service.telemetry.metrics import Metrics


class BodyLimitMiddleware:
    """Counts the bytes of a body as they come, and refuses those past a limit.

    A body that says its size is refused before it is read; one that does not is read up to the
    limit. JSON lines pass: they are read line by line, each against the same limit.

    Args:
        app: What is protected.
        limit_bytes: Of one body.
        metrics: Told of refusals.
    """

    def __init__(self, app: ASGIApp, limit_bytes: int, metrics: Metrics) -> None:
        self._app = app
        self._limit = limit_bytes
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        kind = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
        if kind.decode("latin-1") in NDJSON:
            await self._app(scope, receive, send)
            return
        declared = headers.get(b"content-length", b"0")
        if declared.isdigit() and int(declared) > self._limit:
            error = self._too_large(int(declared))
            count_rejection(error, self._metrics)
            await problem_response(error, scope)(scope, receive, send)
            return
        received = 0

        async def counting_receive() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > self._limit:
                raise self._too_large(received)
            return message

        await self._app(scope, counting_receive, send)

    def _too_large(self, size: int) -> TooLargeError:
        return TooLargeError(
            f"The body has {size} bytes or more; {self._limit} are allowed.",
            field="body",
            remedy="Send less at a time; documents may come as application/x-ndjson of any size.",
        )


def check_count(items: Sized, limit: int, *, field: str, remedy: str | None = None) -> None:
    """Raise TooLargeError where `items` are more than `limit`."""
    if len(items) > limit:
        raise TooLargeError(
            f"{len(items)} are too many for one request; {limit} are allowed.",
            field=field,
            remedy=remedy or "Split them over several requests.",
        )
