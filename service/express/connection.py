"""Uvicorn's protocol with a short way out for requests that came whole and alone."""

from __future__ import annotations

from typing import ClassVar, cast

from uvicorn.protocols.http.httptools_impl import (
    STATUS_LINE,
    HttpToolsProtocol,
    RequestResponseCycle,
)

from service.express.lane import Answering, Headers, Lane


class ExpressProtocol(HttpToolsProtocol):
    """Asks a lane for the answer to each POST that came in one piece; else it is uvicorn's.

    Such a request is held from the end of its headers to the end of its body, a moment later. If
    the lane leaves it, uvicorn takes it up where it was held. While one is answered nothing more is
    parsed, so that answers go out in the order of their requests.
    """

    lane: ClassVar[Lane | None] = None
    _between = True  # two requests
    _piece: bytes | None = None  # what came now, if it began with a request
    _holds = False
    _body = b""
    _answering: Answering | None = None
    _later = b""
    _last = False  # request of the connection

    def data_received(self, data: bytes) -> None:
        """Parse what came, or keep it until the request at hand is answered."""
        if self._answering is not None:
            self._later += data
            self.flow.pause_reading()
            return
        self._piece = data if self._between else None
        super().data_received(data)
        self._piece = None

    def on_message_begin(self) -> None:
        """Take note that a request has begun."""
        super().on_message_begin()
        self._between = False

    def on_headers_complete(self) -> None:
        """Hold the request if it may go the short way."""
        self._holds = self._came_whole()
        if not self._holds:
            super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Take a part of the body."""
        if self._holds:
            self._body += body
        else:
            super().on_body(body)

    def on_message_complete(self) -> None:
        """Send a request that was held on its way."""
        self._between = True
        if not self._holds:
            super().on_message_complete()
            return
        body, self._body, self._holds = self._body, b"", False
        assert self.lane is not None, "without a lane none is held; this is a bug"
        self._answering = self.lane.begin(self.url, self.headers, body, self)
        if self._answering is None:
            super().on_headers_complete()
            super().on_body(body)
            super().on_message_complete()

    def answer(self, status: int, headers: Headers, body: bytes) -> None:
        """Write the answer to the request that the lane took, in one piece."""
        self._answering = None
        if self.transport.is_closing():
            return
        closing = [(b"connection", b"close")] if self._last else []
        told = (*self.server_state.default_headers, *closing, *headers)
        lines = [b"%b: %b\r\n" % header for header in told]
        self.transport.write(b"".join([STATUS_LINE[status], *lines, b"\r\n", body]))
        if self._last:
            self.transport.close()
        self.on_response_complete()
        if self._later and not self.transport.is_closing():
            data, self._later = self._later, b""
            self.data_received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell the lane that nobody waits for its answer."""
        if self._answering is not None:
            self._answering.abandon()
            self._answering = None
        super().connection_lost(exc)

    def shutdown(self) -> None:
        """Close after the answer that is due, or now."""
        if self._answering is None:
            super().shutdown()
        else:
            self._last = True

    @property
    def is_idle(self) -> bool:
        """Whether uvicorn answers no request of this connection, and none waits in line."""
        latest = cast("RequestResponseCycle | None", self.cycle)
        return latest is None or latest.response_complete

    def _came_whole(self) -> bool:
        """Return whether the request came in one piece, to where the lane is, and nothing else."""
        piece, lane = self._piece, self.lane
        if piece is None or lane is None or not lane.is_on_way(self.url):
            return False
        keeps = self.parser.should_keep_alive() and self.parser.get_http_version() == "1.1"
        free = self.is_idle and not self.flow.write_paused
        if self.parser.get_method() != b"POST" or not (keeps and free):
            return False
        length = next((value for name, value in self.headers if name == b"content-length"), b"")
        # The parser has seen that it is a number, and that it came once.
        return piece.find(b"\r\n\r\n") + 4 + int(length or b"0") == len(piece)
