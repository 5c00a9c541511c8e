"""What happens while a request is worked on, as JSON lines."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping

import orjson
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from service.api.problems import problem_of
from service.errors import InterlinguaError


class EventStream(StreamingResponse):
    """An answer that is streamed while the request's body still comes.

    Starlette's own watches for a client that is gone by receiving, and so takes parts of the body
    away from whoever reads it; here the reader of the body learns of the client.
    """

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002
        """Answer."""
        await self.stream_response(send)


async def event_lines(events: AsyncIterator[Mapping[str, object]]) -> AsyncIterator[bytes]:
    """Yield each event as a line; an error becomes the last one, as the answer has begun."""
    try:
        async for event in events:
            yield orjson.dumps(event) + b"\n"
    except InterlinguaError as error:
        yield orjson.dumps({"error": problem_of(error).members(None)}) + b"\n"
