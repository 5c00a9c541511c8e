"""Connections that may not be held for ever: uvicorn's protocol with limits on what a client does.

Uvicorn itself bounds only the pause between two requests of one connection. A client that sends its
headers a byte a minute, or never reads its answer, would keep a connection and its buffers.
"""

from __future__ import annotations

import asyncio
from typing import ClassVar

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MAX_HEAD_BYTES = 65_536
"""Of a request's first line and headers together."""

_TOO_LARGE = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\n"
    b"content-length: 0\r\nconnection: close\r\n\r\n"
)


def bounded_protocol(seconds: float) -> type[HttpToolsProtocol]:
    """Return uvicorn's protocol with clients given `seconds` for headers, and to read answers."""

    class Bounded(BoundedProtocol):
        client_seconds = seconds

    return Bounded


class BoundedProtocol(HttpToolsProtocol):
    """Ends connections whose client is too slow, or whose headers are too large.

    Bodies are bounded elsewhere, by `service.api.limits`: there the answer can say why.
    """

    client_seconds: ClassVar[float] = 30.0
    _waiting: asyncio.TimerHandle | None = None
    _stuck: asyncio.TimerHandle | None = None
    _head_bytes = 0
    _in_head = True

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request's headers."""
        super().connection_made(transport)
        self._expect_head()

    def data_received(self, data: bytes) -> None:
        """Count what comes before the end of the headers."""
        if self._in_head:
            self._head_bytes += len(data)
        super().data_received(data)
        # What came behind the headers was counted too: it is at most one read of the socket.
        if self._in_head and self._head_bytes > MAX_HEAD_BYTES and not self.transport.is_closing():
            self.transport.write(_TOO_LARGE)
            self.transport.close()

    def on_message_begin(self) -> None:
        """Begin to wait for the headers of the next request of the connection."""
        super().on_message_begin()
        self._expect_head()

    def on_headers_complete(self) -> None:
        """Go on to the request."""
        self._in_head = False
        self._head_bytes = 0
        self._cancel()
        super().on_headers_complete()

    def pause_writing(self) -> None:
        """Give the client so long to read what is there."""
        super().pause_writing()
        # Aborted, not closed: closing waits until all is read.
        self._stuck = self.loop.call_later(self.client_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """Go on writing."""
        if self._stuck is not None:
            self._stuck.cancel()
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        """Let go of the timers."""
        self._cancel()
        if self._stuck is not None:
            self._stuck.cancel()
        super().connection_lost(exc)

    def _expect_head(self) -> None:
        self._in_head = True
        self._cancel()
        self._waiting = self.loop.call_later(self.client_seconds, self.transport.close)

    def _cancel(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None
