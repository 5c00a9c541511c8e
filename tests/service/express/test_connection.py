"""Requests in one piece, in many, in a line, and beside a shutdown: in bytes, over real sockets."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.service.api.running import Gate, tiny_settings
from tests.service.express.serving import Served, serve
from tests.service.express.test_lane import request, session_of, until


@pytest.fixture
async def served(tiny_bundle: Path, tmp_path: Path) -> AsyncIterator[Served]:
    async with serve(tiny_settings(tiny_bundle, tmp_path)) as server:
        yield server


async def answer(reader: asyncio.StreamReader) -> tuple[bytes, bytes]:
    """Return the head and the body of the next answer."""
    async with asyncio.timeout(10):
        head = await reader.readuntil(b"\r\n\r\n")
        length = head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0]
        return head, await reader.readexactly(int(length))


async def vector_of(served: Served, text: str) -> object:
    (vector,) = (await served.ask("POST", "/embed", json={"inputs": text})).json()
    return vector


async def test_one_connection_serves_any_number(served: Served) -> None:
    reader, writer = await served.connect()
    for text in ("one", "two", "three"):
        writer.write(request({"inputs": text}))
        head, body = await answer(reader)
        assert head.startswith(b"HTTP/1.1 200 OK\r\n")
        assert json.loads(body) == [await vector_of(served, text)]
    assert served.lane.taken == [True] * 6
    assert served.connections.total_requests == 6
    writer.close()


async def test_both_ways_take_turns_on_a_connection(served: Served) -> None:
    reader, writer = await served.connect()
    for path, body in (("/embed", {"inputs": "a"}), ("/tokenize", {"inputs": "a"})) * 3:
        writer.write(request(body, path=path))
        assert (await answer(reader))[0].startswith(b"HTTP/1.1 200 OK\r\n")
    assert served.lane.taken == [True] * 3
    writer.close()


@pytest.mark.parametrize("cut", [10, -10])
async def test_what_comes_in_pieces_takes_the_ordinary_way(served: Served, cut: int) -> None:
    reader, writer = await served.connect()
    whole = request({"inputs": "in pieces"})
    writer.write(whole[:cut])
    await asyncio.sleep(0.05)
    writer.write(whole[cut:])
    assert json.loads((await answer(reader))[1]) == [await vector_of(served, "in pieces")]
    assert served.lane.taken == [True]  # the other one
    writer.close()


async def test_requests_in_a_line_are_answered_in_their_order(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = [[await vector_of(served, text)] for text in "abcd"]
    gate = Gate(session_of(served))
    monkeypatch.setattr(session_of(served), "run", gate)
    reader, writer = await served.connect()
    writer.write(request({"inputs": "a"}))
    await until(gate.reached.is_set)
    writer.write(request({"inputs": "b"}))
    await asyncio.sleep(0.05)
    writer.write(request({"inputs": "c"}) + request({"inputs": "d"}))
    await asyncio.sleep(0.05)
    gate.opened.set()
    assert [json.loads((await answer(reader))[1]) for _ in range(4)] == expected
    writer.close()


async def test_two_in_one_piece_are_answered_in_their_order(served: Served) -> None:
    reader, writer = await served.connect()
    writer.write(request({"inputs": "a"}) + request({"inputs": "b"}))
    for text in "ab":
        assert json.loads((await answer(reader))[1]) == [await vector_of(served, text)]
    writer.close()


async def test_a_connection_that_is_to_end_is_answered_first(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(session_of(served))
    monkeypatch.setattr(session_of(served), "run", gate)
    reader, writer = await served.connect()
    writer.write(request({"inputs": "a"}))
    await until(gate.reached.is_set)
    (connection,) = served.connections.connections
    connection.shutdown()
    gate.opened.set()
    head, _ = await answer(reader)
    assert b"\r\nconnection: close\r\n" in head
    assert await reader.read() == b""
    writer.close()


async def test_a_connection_without_a_request_ends_at_once(served: Served) -> None:
    reader, writer = await served.connect()
    writer.write(request({"inputs": "a"}))
    await answer(reader)
    (connection,) = served.connections.connections
    connection.shutdown()
    assert await reader.read() == b""
    writer.close()


@pytest.mark.parametrize(
    "head",
    [
        b"POST /embed HTTP/1.0\r\ncontent-length: 15\r\ncontent-type: application/json\r\n\r\n",
        b"PUT /embed HTTP/1.1\r\nhost: localhost\r\ncontent-length: 15\r\n\r\n",
        b"POST /embed?a=1 HTTP/1.1\r\nhost: localhost\r\ncontent-length: 15\r\n"
        b"content-type: application/json\r\n\r\n",
    ],
)
async def test_other_requests_are_not_held(served: Served, head: bytes) -> None:
    reader, writer = await served.connect()
    writer.write(head + b'{"inputs": "a"}')
    assert (await answer(reader))[0].startswith(b"HTTP/1.")
    assert not served.lane.taken
    writer.close()


async def test_an_offer_of_another_protocol_changes_nothing(served: Served) -> None:
    offer = b"connection: Upgrade, HTTP2-Settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABk\r\n"
    reader, writer = await served.connect()
    whole = request({"inputs": "a"})
    for _ in range(2):
        writer.write(whole.replace(b"host:", offer + b"host:"))
        assert json.loads((await answer(reader))[1]) == [await vector_of(served, "a")]
    writer.close()
