from __future__ import annotations

import asyncio
import errno
import resource
import socket
from collections.abc import Iterator
from types import SimpleNamespace
from typing import cast

import pytest

from service import accepting
from service.accepting import Acceptor


class Noted(asyncio.Protocol):
    """Counts connections and greets."""

    made = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        Noted.made += 1
        cast(asyncio.Transport, transport).write(b"hello")
        transport.close()


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    Noted.made = 0
    with socket.create_server(("127.0.0.1", 0)) as bound:
        yield bound


async def greeting(listener: socket.socket) -> bytes:
    reader, writer = await asyncio.open_connection(*listener.getsockname())
    try:
        return await asyncio.wait_for(reader.read(), 10)
    finally:
        writer.close()
        await writer.wait_closed()


async def test_all_that_wait_are_taken_in_one_turn(listener: socket.socket) -> None:
    waiting = [socket.create_connection(listener.getsockname()) for _ in range(50)]
    acceptor = Acceptor(listener, Noted, backlog=100)
    turns = 0
    while Noted.made < 50:
        await asyncio.sleep(0)
        turns += 1
        assert turns < 30, f"{Noted.made} of 50 were taken"
    acceptor.close()
    for connection in waiting:
        connection.close()


async def test_after_it_is_closed_none_is_taken(listener: socket.socket) -> None:
    address = listener.getsockname()
    acceptor = Acceptor(listener, Noted, backlog=100)
    assert await greeting(listener) == b"hello"
    acceptor.close()
    await acceptor.wait_closed()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(address)
    assert Noted.made == 1


async def test_what_waits_when_it_is_closed_is_taken(listener: socket.socket) -> None:
    acceptor = Acceptor(listener, Noted, backlog=100)
    with socket.create_connection(listener.getsockname()) as waiting:
        acceptor.close()
        assert await asyncio.to_thread(waiting.recv, 10) == b"hello"
    acceptor.close()


async def test_without_handles_connections_wait(
    listener: socket.socket, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(accepting, "PAUSE_SECONDS", 0.1)
    refusals = [OSError(errno.EMFILE, "Too many open files")]

    def accept() -> tuple[socket.socket, object]:
        if refusals:
            raise refusals.pop()
        return listener.accept()

    scarce = SimpleNamespace(
        accept=accept, setblocking=listener.setblocking, listen=listener.listen,
        fileno=listener.fileno, close=listener.close,
    )  # fmt: skip
    acceptor = Acceptor(cast(socket.socket, scarce), Noted, backlog=100)
    assert await greeting(listener) == b"hello"
    assert "connections wait" in caplog.text
    acceptor.close()


async def test_closed_without_handles_it_does_not_begin_again(
    listener: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(accepting, "PAUSE_SECONDS", 0.05)
    complaints: list[object] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: complaints.append(context))
    acceptor = Acceptor(listener, Noted, backlog=100)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with socket.create_connection(listener.getsockname()):
        resource.setrlimit(resource.RLIMIT_NOFILE, (0, hard))
        try:
            acceptor.close()
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        await asyncio.sleep(0.2)
    assert complaints == []
