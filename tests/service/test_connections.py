"""Clients that hold connections: a real server with little patience, spoken to over sockets."""

from __future__ import annotations

import asyncio
import re
import socket
import subprocess
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from service.connections import MAX_HEAD_BYTES, bounded_protocol
from tests.service.test_server import start

pytestmark = pytest.mark.e2e

PATIENCE = 1.0
PAUSE = 3
"""Between two requests."""
HEAD = b"POST /embed HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"


@pytest.fixture(scope="module")
def url(tiny_bundle: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.URL]:
    process = start(
        tmp_path_factory.mktemp("slow"), tiny_bundle,
        "--port", "0", "--client-timeout-seconds", str(PATIENCE), "--workers", "1",
        "--keep-alive-seconds", str(PAUSE),
    )  # fmt: skip
    try:
        yield httpx.URL(_address(process))
    finally:
        process.terminate()
        process.communicate(timeout=20)


def _address(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    while line := process.stdout.readline():
        if found := re.search(r"http://127\.0\.0\.1:\d+", line):
            return found.group()
    raise AssertionError("the server ended before it was up")


def connect(url: httpx.URL) -> socket.socket:
    assert url.port is not None
    connection = socket.create_connection((url.host, url.port))
    connection.settimeout(10 * PATIENCE)
    return connection


def closed_after(connection: socket.socket) -> tuple[float, bytes]:
    """Return the seconds until the server closed, and what it said before."""
    began = time.monotonic()
    said = b""
    try:
        while part := connection.recv(65_536):
            said += part
    except ConnectionResetError:
        pass
    return time.monotonic() - began, said


def trickled(connection: socket.socket, part: bytes) -> float:
    """Send `part` ten times a second; return how long the server let that go on."""
    began = time.monotonic()
    try:
        while time.monotonic() - began < 5 * PATIENCE:
            connection.sendall(part)
            time.sleep(0.1)
    except OSError:  # reset or broken pipe, as it happens
        pass
    return time.monotonic() - began


@pytest.mark.parametrize("sent", [b"", b"GET /health HTTP/1.1\r\nhost: loc"])
def test_headers_that_do_not_come_end_the_connection(url: httpx.URL, sent: bytes) -> None:
    with connect(url) as connection:
        connection.sendall(sent)
        seconds, _ = closed_after(connection)
    assert 0.5 * PATIENCE < seconds < 3 * PATIENCE


def test_headers_that_trickle_are_no_better(url: httpx.URL) -> None:
    with connect(url) as connection:
        connection.sendall(b"GET /health HTTP/1.1\r\n")
        assert trickled(connection, b"x-a: 1\r\n") < 3 * PATIENCE


def test_headers_without_an_end_are_refused(url: httpx.URL) -> None:
    with connect(url) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\n" + b"x-a: " + b"b" * 2 * MAX_HEAD_BYTES)
        _, said = closed_after(connection)
    assert said.startswith(b"HTTP/1.1 431 ")


def test_a_body_that_does_not_come_is_answered_with_the_reason(url: httpx.URL) -> None:
    with connect(url) as connection:
        connection.sendall(HEAD + b"content-length: 100\r\n\r\n{")
        seconds, said = closed_after(connection)
    assert 0.5 * PATIENCE < seconds < 3 * PATIENCE
    assert said.startswith(b"HTTP/1.1 408 ")
    assert b"too-slow" in said


def test_a_body_that_trickles_is_no_better(url: httpx.URL) -> None:
    with connect(url) as connection:
        connection.sendall(HEAD + b"content-length: 1000000\r\n\r\n")
        assert trickled(connection, b" ") < 4 * PATIENCE


def test_who_does_not_read_the_answer_is_cut_off(url: httpx.URL) -> None:
    request = b"GET /openapi.json HTTP/1.1\r\nhost: localhost\r\n\r\n"
    wanted = 500
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)  # before the window is set
        assert url.port is not None
        connection.connect((url.host, url.port))
        # So many answers that all buffers on the way are full: tens of megabytes.
        connection.sendall(request * wanted)
        time.sleep(3 * PATIENCE)
        connection.settimeout(5 * PATIENCE)
        _, said = closed_after(connection)
    assert said.count(b"HTTP/1.1 200") < wanted


EARLY = HEAD.replace(b"localhost", b"elsewhere") + b"content-length: 1000\r\n\r\n"
"""What is refused before a byte of the body is read."""


def answered_early(url: httpx.URL) -> socket.socket:
    connection = connect(url)
    connection.sendall(EARLY)
    assert_refused(connection)
    return connection


def assert_refused(connection: socket.socket) -> None:
    said = b""
    while not said.endswith(b"}"):
        said += connection.recv(65_536)
    assert said.startswith(b"HTTP/1.1 403 ")


@pytest.mark.parametrize(
    ("sent", "left"), [(b"", PATIENCE), (b"{", PATIENCE), (b" " * 1000, PAUSE)]
)
def test_an_early_answer_does_not_leave_the_connection_open(
    url: httpx.URL, sent: bytes, left: float
) -> None:
    with answered_early(url) as connection:
        connection.sendall(sent)
        seconds, said = closed_after(connection)
    assert left - 0.5 * PATIENCE < seconds < left + PATIENCE
    assert not said


def test_a_body_that_trickles_after_its_answer_is_no_better(url: httpx.URL) -> None:
    with answered_early(url) as connection:
        assert trickled(connection, b" ") < 3 * PATIENCE


def test_blank_lines_between_requests_are_no_better(url: httpx.URL) -> None:
    with connect(url) as connection:
        connection.sendall(b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n")
        assert connection.recv(65_536).startswith(b"HTTP/1.1 200 ")
        assert trickled(connection, b"\r\n") < 3 * PATIENCE


def test_a_connection_goes_on_where_the_body_came_after_its_answer(url: httpx.URL) -> None:
    with answered_early(url) as connection:
        for _ in range(5):  # longer than the client's time for one of them
            time.sleep(0.5 * PATIENCE)
            connection.sendall(b" " * 1000 + EARLY)
            assert_refused(connection)


@asynccontextmanager
async def connected(
    app: ASGIApp, patience: float
) -> AsyncIterator[tuple[HttpToolsProtocol, socket.socket]]:
    """Give the protocol of a connection in this process, and its client's end."""
    served, client = socket.socketpair()
    served.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    protocol = bounded_protocol(patience)(Config(app, log_config=None), ServerState(), {})
    await asyncio.get_running_loop().create_connection(lambda: protocol, sock=served)
    with client:
        yield protocol, client


async def test_the_rest_of_an_answer_that_nobody_reads_is_given_up() -> None:
    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200,
                    "headers": [(b"content-length", b"60000")]})  # fmt: skip
        await send({"type": "http.response.body", "body": bytes(60_000)})  # no buffer is full

    async with connected(answer, 0.1) as (protocol, client), asyncio.timeout(5):
        client.sendall(b"GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
        while protocol in protocol.connections:
            await asyncio.sleep(0.01)


async def test_every_request_of_a_line_learns_that_the_client_is_gone() -> None:
    asked, told = asyncio.Event(), asyncio.Event()

    async def wait_for_the_end(scope: Scope, receive: Receive, send: Send) -> None:
        await receive()  # there is no body
        asked.set()
        assert (await receive())["type"] == "http.disconnect"
        told.set()

    async with asyncio.timeout(5), connected(wait_for_the_end, 10) as (_, client):
        client.sendall(2 * b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n")
        await asked.wait()
        client.close()
        await told.wait()


@pytest.mark.parametrize("pieces", [1, 7])
def test_a_request_that_offers_another_protocol_is_answered(url: httpx.URL, pieces: int) -> None:
    body = b'{"inputs": ["hello"], "encoding_format": "base64"}'
    offer = (
        b"connection: Upgrade, HTTP2-Settings\r\nupgrade: h2c\r\n"
        b"http2-settings: AAEAAEAAAAIAAAABAAMAAABk\r\n"  # as Java's client sends it
    )
    length = b"content-length: %d\r\n\r\n" % len(body)
    with connect(url) as connection:
        sent = HEAD + offer + length + body + HEAD + length + body
        size = -(-len(sent) // pieces)
        for start_of_piece in range(0, len(sent), size):
            connection.sendall(sent[start_of_piece : start_of_piece + size])
            time.sleep(0.02)
        _, said = closed_after(connection)
    assert said.count(b"HTTP/1.1 200 ") == 2
    first, second = re.findall(rb'\["[^]]+"\]', said)
    assert first == second


def test_others_are_served_while_many_hold_connections(url: httpx.URL) -> None:
    held = [connect(url) for _ in range(200)]
    try:
        for connection in held:
            connection.sendall(HEAD + b"content-length: 100\r\n\r\n{")
        with httpx.Client(base_url=url) as client:
            for _ in range(10):
                began = time.monotonic()
                assert client.post("/embed", json={"inputs": "hello"}).status_code == 200
                assert time.monotonic() - began < PATIENCE
    finally:
        for connection in held:
            connection.close()
