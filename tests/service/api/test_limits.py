from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import quote

import pytest

from service.api.body import MAX_DEPTH, parse_json
from service.errors import MalformedError
from service.settings import Settings
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


@pytest.mark.parametrize("opening", ["[", '{"a":'])
@pytest.mark.parametrize("depth", [MAX_DEPTH + 1, 1000, 100_000])
async def test_what_nests_too_deep_is_refused(running: Running, opening: str, depth: int) -> None:
    closing = "]" if opening == "[" else "}"
    text = opening * depth + "1" + closing * depth
    for path in ("/embed", "/similar", "/v1/embeddings", "/classify"):
        content = f'{{"inputs": "a", "x": {text}}}'
        response = await running.client.post(path, content=content, headers=JSON)
        assert response.status_code == 400, response.text


def test_what_is_wide_is_not_deep() -> None:
    for text in (b"[" + b"[1]," * 500 + b"1]", b'{"inputs": ["' + b"[" * 500 + b'"]}'):
        parse_json(text)
    deepest = b"[" * MAX_DEPTH + b"1" + b"]" * MAX_DEPTH
    parse_json(deepest)
    with pytest.raises(MalformedError, match="deeper"):
        parse_json(b"[" + deepest + b"]")


NAMES = ["..", ".", "../../etc/passwd", "a\0b", "a" * 5000, "/etc/passwd", "~root", "$(id)", "a;b",
         "\udcc0\udcae", "\\..\\a", "%2e%2e"]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
async def test_no_name_leads_to_the_file_system(
    running: Running, settings: Settings, name: str
) -> None:
    before = {path for path in settings.data.parent.rglob("*") if path.is_dir()}
    # Dots too, since clients tidy up paths that have them plain.
    escaped = quote(name, safe="", errors="surrogateescape").replace(".", "%2E")
    for method, path in (
        ("PUT", "/corpora/{}"), ("GET", "/corpora/{}"), ("DELETE", "/corpora/{}"),
        ("GET", "/classifiers/{}"), ("DELETE", "/classifiers/{}"), ("GET", "/jobs/{}"),
        ("DELETE", "/jobs/{}"), ("GET", "/v1/models/{}"), ("GET", "/corpora/{}/export"),
    ):  # fmt: skip
        response = await running.client.request(method, path.format(escaped))
        assert response.status_code in (404, 405, 422), (method, path, response.text)
        assert "root:" not in response.text
    name = name.encode(errors="replace").decode()
    body = {"inputs": "a", "corpus": name, "model": name, "classifier": name}
    for path in ("/similar", "/embed", "/classify"):
        response = await running.client.post(path, json=body)
        assert response.status_code in (404, 422), (path, response.text)
    assert {path for path in settings.data.parent.rglob("*") if path.is_dir()} == before
