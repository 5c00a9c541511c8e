from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.service.api.running import Running, assert_problem, run_app, tiny_settings

JSON = {"content-type": "application/json"}


@pytest.fixture
async def narrow(tiny_bundle: Path, tmp_path: Path) -> AsyncIterator[Running]:
    settings = tiny_settings(tiny_bundle, tmp_path, max_body_bytes=2000, max_inputs=3)
    async with run_app(settings) as running:
        yield running


async def test_a_body_that_says_it_is_too_large_is_not_read(narrow: Running) -> None:
    read = 0

    async def pieces() -> AsyncIterator[bytes]:
        nonlocal read
        for _ in range(10):
            read += 1
            yield b"x" * 1000

    headers = JSON | {"content-length": "10000"}
    response = await narrow.client.post("/embed", content=pieces(), headers=headers)
    assert_problem(response, 413, field="body")
    assert read == 0
    assert await narrow.metric("interlingua_rejected_total", reason="too-large") == 1


async def test_a_body_that_does_not_say_is_read_up_to_the_limit(narrow: Running) -> None:
    read = 0

    async def pieces() -> AsyncIterator[bytes]:
        nonlocal read
        for _ in range(10):
            read += 1
            yield b"x" * 1000

    response = await narrow.client.post("/embed", content=pieces(), headers=JSON)
    assert_problem(response, 413, field="body")
    assert read == 3


async def test_a_body_at_the_limit_is_taken(narrow: Running) -> None:
    frame = b'{"inputs": "%s"}'
    body = frame % (b"x" * (2000 - len(frame) + 2))
    assert len(body) == 2000
    assert (await narrow.client.post("/embed", content=body, headers=JSON)).status_code == 200
    longer = await narrow.client.post("/embed", content=body + b" ", headers=JSON)
    assert_problem(longer, 413)


async def test_the_number_of_inputs_is_limited(narrow: Running) -> None:
    taken = await narrow.client.post("/embed", json={"inputs": ["a"] * 3})
    assert taken.status_code == 200
    assert_problem(await narrow.client.post("/embed", json={"inputs": ["a"] * 4}), 413)
