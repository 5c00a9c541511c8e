"""Take connections as they come, however busy the event loop is."""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
from collections.abc import Callable

log = logging.getLogger(__name__)

PAUSE_SECONDS = 1.0
"""How long none are taken when the process has no handles left."""
_NO_HANDLES = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


class Acceptor:
    """Takes all connections that wait at a listening socket, at each turn of the event loop.

    libuv, below uvloop, takes one at a turn, so that several processes at one socket get their
    share. A busy loop's turns are long: with 900 connections under load new ones, probes among
    them, waited for more than four seconds behind those that were there.

    It has what uvicorn asks of a server: `close` and `wait_closed`.

    Args:
        listener: Bound, and listened on from now.
        protocol: Makes the protocol of a connection.
        backlog: Connections that the system keeps waiting.
    """

    def __init__(
        self, listener: socket.socket, protocol: Callable[[], asyncio.Protocol], *, backlog: int
    ) -> None:
        self._listener = listener
        self._protocol = protocol
        self._backlog = backlog
        self._loop = asyncio.get_running_loop()
        self._connecting: set[asyncio.Task[object]] = set()
        self._pause: asyncio.TimerHandle | None = None
        listener.setblocking(False)
        listener.listen(backlog)
        self._resume()

    def close(self) -> None:
        """Take what waits, and no more."""
        if self._listener.fileno() < 0:
            return
        if self._loop.remove_reader(self._listener):
            self._accept()
        if self._pause is not None:  # it may have just begun
            self._pause.cancel()
        self._listener.close()

    async def wait_closed(self) -> None:
        """Wait for nothing: connections are uvicorn's."""

    def _resume(self) -> None:
        self._loop.add_reader(self._listener, self._accept)

    def _accept(self) -> None:
        for _ in range(self._backlog):
            try:
                connection, _address = self._listener.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                if error.errno not in _NO_HANDLES:
                    raise
                log.error("connections wait: %s", error.strerror)
                self._loop.remove_reader(self._listener)
                self._pause = self._loop.call_later(PAUSE_SECONDS, self._resume)
                return
            connection.setblocking(False)
            task = self._loop.create_task(self._connect(connection))
            self._connecting.add(task)
            task.add_done_callback(self._connecting.discard)

    async def _connect(self, connection: socket.socket) -> object:
        try:
            return await self._loop.connect_accepted_socket(self._protocol, connection)
        except OSError:  # it is gone already
            connection.close()
            return None
