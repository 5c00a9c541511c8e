"""Connections that may not be held for ever: uvicorn's protocol with limits on what a client does.

Uvicorn itself bounds only the pause between two requests of one connection, and any byte ends that
bound. A client that sends its headers a byte a minute, stops in a body that was answered already,
or never reads its answer, would keep a connection and its buffers.
"""

from __future__ import annotations

import asyncio
from array import array
from typing import ClassVar, cast

import httptools
from uvicorn._types import ASGI3Application
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from service.express.connection import ExpressProtocol
from service.express.lane import Lane

MAX_HEAD_BYTES = 65_536
"""Of a request's first line and headers together."""

_TOO_LARGE = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\n"
    b"content-length: 0\r\nconnection: close\r\n\r\n"
)


def bounded_protocol(seconds: float, lane: Lane | None = None) -> type[HttpToolsProtocol]:
    """Return uvicorn's protocol with clients given `seconds` for headers, and to read answers.

    Args:
        seconds: For either.
        lane: What plain requests are answered by; nothing where None.
    """
    of_requests = lane

    class Bounded(BoundedProtocol):
        client_seconds = seconds
        lane = of_requests

    return Bounded


class BoundedProtocol(ExpressProtocol):
    """Ends connections whose client is too slow, or whose headers are too large.

    Bodies are bounded elsewhere, by `service.api.limits`: there the answer can say why.
    """

    client_seconds: ClassVar[float] = 30.0
    _waiting: asyncio.TimerHandle | None = None
    _stuck: asyncio.TimerHandle | None = None
    _head_bytes = 0
    _in_head = True
    _in_body = False
    _answered = False
    _at_work: RequestResponseCycle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request's headers."""
        self._closing = ClosedInTime(transport, self.loop, self.client_seconds)
        super().connection_made(cast("asyncio.Transport", self._closing))
        self.parser = _Parser(self)
        self._expect_head()

    def data_received(self, data: bytes) -> None:
        """Count what comes before the end of the headers; go on after a body that came late."""
        unfinished = self._in_body
        if self._in_head:
            self._head_bytes += len(data)
        super().data_received(data)
        # What came behind the headers was counted too: it is at most one read of the socket.
        if self._in_head and self._head_bytes > MAX_HEAD_BYTES and not self.transport.is_closing():
            self.transport.write(_TOO_LARGE)
            self.transport.close()
        if self._answered and not (self._in_head or self._in_body):
            # Uvicorn's bound on the pause ended with this data, which began no request.
            if unfinished:
                self._begin_pause()
            else:
                self._close_later()  # a blank line, say

    def on_message_begin(self) -> None:
        """Begin to wait for the headers of the next request of the connection."""
        super().on_message_begin()
        self._expect_head()

    def on_headers_complete(self) -> None:
        """Go on to the request."""
        if _offers_upgrade(self.parser):
            return
        self._in_head = False
        self._in_body = True
        self._answered = False
        self._head_bytes = 0
        self._cancel()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Take note that the body is there, or that there is none."""
        if _offers_upgrade(self.parser):
            return
        self._in_body = False
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Give the client so long to end a body that was answered before it was there."""
        super().on_response_complete()
        self._answered = self.is_idle
        if self._answered and self._in_body:
            self._close_later()

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
        """Let go of the timers, and have the request at work learn that its client is gone."""
        self._cancel()
        if self._stuck is not None:
            self._stuck.cancel()
        # Uvicorn tells the latest request alone, which may wait in line behind this one.
        if self._at_work is not None and not self._at_work.response_complete:
            self._at_work.disconnected = True
            self._at_work.message_event.set()
        super().connection_lost(exc)
        self._closing.lost()

    def head_without_upgrade(self) -> bytes:
        """Return the head of the present request, less its offer to speak another protocol."""
        version = self.parser.get_http_version().encode()
        lines = [b"%b %b HTTP/%b" % (self.parser.get_method(), self.url, version)]
        lines += [b"%b: %b" % header for header in self.headers if header[0] != b"upgrade"]
        return b"\r\n".join([*lines, b"", b""])

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        self._at_work = cycle
        super()._start_asgi_task(cycle, app)

    def _expect_head(self) -> None:
        self._in_head = True
        self._cancel()
        self._close_later()

    def _begin_pause(self) -> None:
        self._cancel()
        if not self.transport.is_closing():
            self.timeout_keep_alive_task = self.loop.call_later(
                self.timeout_keep_alive, self.timeout_keep_alive_handler
            )

    def _close_later(self) -> None:
        """Close unless whole headers come before; what else comes does not put it off."""
        if self._waiting is None and not self.transport.is_closing():
            self._waiting = self.loop.call_later(self.client_seconds, self.transport.close)

    def _cancel(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None


class _Parser(httptools.HttpRequestParser):
    """Takes no notice of an offer to speak another protocol, as HTTP allows.

    Java's clients and `curl --http2` send one with each first request; httptools ends the request
    at its headers then, and takes the body for the other protocol.

    Args:
        protocol: Told what is parsed.
    """

    def __init__(self, protocol: BoundedProtocol) -> None:
        super().__init__(protocol)
        self.set_dangerous_leniencies(lenient_data_after_close=True)  # as uvicorn has it
        self._protocol = protocol

    def feed_data(self, data: bytes | bytearray | memoryview | array[int]) -> None:
        """Parse what came."""
        while True:
            try:
                return super().feed_data(data)
            except httptools.HttpParserUpgrade as offer:
                if not _offers_upgrade(self):
                    raise
                super().feed_data(self._protocol.head_without_upgrade())
                data = memoryview(data)[offer.args[0] :]


def _offers_upgrade(parser: httptools.HttpRequestParser) -> bool:
    """Return whether the request could go on in another protocol; CONNECT must."""
    return parser.should_upgrade() and parser.get_method() != b"CONNECT"


class ClosedInTime:
    """A transport that is aborted where it cannot be closed: closing waits until all is read.

    Args:
        transport: Whose methods it has.
        loop: The transport's.
        seconds: Between the two.
    """

    def __init__(
        self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop, seconds: float
    ) -> None:
        self._transport = transport
        self._loop = loop
        self._seconds = seconds
        self._abort: asyncio.TimerHandle | None = None
        self.write = transport.write  # with is_closing, what every answer calls
        self.is_closing = transport.is_closing

    def __getattr__(self, name: str) -> object:
        """Give what is the transport's own."""
        return getattr(self._transport, name)

    def close(self) -> None:
        """Close it, and abort it after a while; a client that reads does not see the difference."""
        self._transport.close()
        if self._abort is None:
            self._abort = self._loop.call_later(self._seconds, self._transport.abort)

    def lost(self) -> None:
        """Let go of the timer."""
        if self._abort is not None:
            self._abort.cancel()
