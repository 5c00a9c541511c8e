"""What a request may weigh and how slowly it may come, checked before anything of it is parsed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sized

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.api.body import NDJSON
from service.api.problems import count_rejection, problem_response
from service.errors import SlowClientError, TooLargeError
from service.telemetry.metrics import Metrics

SLOWEST_BYTES_PER_SECOND = 1_000
"""What a body must come with on the whole, beyond the time that its client is given once."""


class BodyLimitMiddleware:
    """Counts the bytes of a body as they come, and refuses those past a limit or too late.

    A body that says its size is refused before it is read; one that does not is read up to the
    limit. JSON lines pass: they are read line by line, each against the same limit. All must come
    in time; only waiting for the client counts, not what is done with what it sent.

    Args:
        app: What is protected.
        limit_bytes: Of one body.
        seconds: How long a client may send nothing, and be behind the slowest pace.
        metrics: Told of refusals.
    """

    def __init__(self, app: ASGIApp, limit_bytes: int, metrics: Metrics, *, seconds: float) -> None:
        self._app = app
        self._limit = limit_bytes
        self._seconds = seconds
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        receive = _in_time(receive, self._seconds)
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


def _in_time(receive: Receive, seconds: float) -> Receive:
    waited = 0.0
    received = 0
    complete = False

    async def receive_in_time() -> Message:
        nonlocal waited, received, complete
        if complete:  # what comes now is that the client is gone, whenever that is
            return await receive()
        began = time.monotonic()
        left = min(seconds, seconds + received / SLOWEST_BYTES_PER_SECOND - waited)
        try:
            async with asyncio.timeout(left):  # wait_for would make a task of it
                message = await receive()
        except TimeoutError:
            raise SlowClientError(
                f"Of the body {received} bytes came, and then too little for {seconds:g} s.",
                field="body",
                remedy="Send it again over a better connection, or in smaller parts.",
            ) from None
        waited += time.monotonic() - began
        received += len(message.get("body", b""))
        complete = not message.get("more_body", False)
        return message

    return receive_in_time


def check_count(items: Sized, limit: int, *, field: str, remedy: str | None = None) -> None:
    """Raise TooLargeError where `items` are more than `limit`."""
    if len(items) > limit:
        raise TooLargeError(
            f"{len(items)} are too many for one request; {limit} are allowed.",
            field=field,
            remedy=remedy or "Split them over several requests.",
        )
