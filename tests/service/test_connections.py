"""Clients that hold connections: a real server with little patience, spoken to over sockets."""

from __future__ import annotations

import re
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from service.connections import MAX_HEAD_BYTES
from tests.service.test_server import start

pytestmark = pytest.mark.e2e

PATIENCE = 1.0
HEAD = b"POST /embed HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"


@pytest.fixture(scope="module")
def url(tiny_bundle: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.URL]:
    process = start(
        tmp_path_factory.mktemp("slow"), tiny_bundle,
        "--port", "0", "--client-timeout-seconds", str(PATIENCE), "--workers", "1",
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
