from __future__ import annotations

import codecs
import gzip

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from starlette.requests import Request
from starlette.types import Message

from service.api.body import lines, parse_json
from service.errors import MalformedError, TooLargeError
from tests.service.api.running import Running, assert_problem

JSON = {"content-type": "application/json"}


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"{", 400),
        (b"null", 400),
        (b'"text"', 400),
        (b'["text"]', 400),
        (b'{"inputs": "\\ud800"}', 400),
        (b'{"inputs": ["\\udc00 and more"]}', 400),
        (b'{"inputs": "\xff\xfe"}', 400),
        (b'{"inputs": "\xed\xa0\x80"}', 400),
        (b'{"inputs": NaN}', 400),
        (b'{"inputs": "a", "dimensions": 1e999}', 400),
        (b'{"inputs": "a", "dimensions": ' + b"9" * 5000 + b"}", 400),
        (b'{"inputs": "a", "dimensions": 12345678901234567890123}', 400),
        (b'{"inputs": "a", "dimensions": -9223372036854775808}', 422),
        (b"[" * 100_000, 400),
        (b'{"inputs": ' + b"[" * 900 + b"]" * 900 + b"}", 400),
        (b'{"inputs": ' + b'{"a":' * 900 + b"1" + b"}" * 900 + b"}", 400),
        (b"\xef\xbb\xbf{}", 400),
        (b'{"inputs": "a"} trailing', 400),
    ],
)
async def test_a_body_that_is_no_request_is_refused_with_the_reason(
    running: Running, body: bytes, status: int
) -> None:
    assert_problem(await running.client.post("/embed", content=body, headers=JSON), status)


async def test_nul_and_odd_characters_in_a_text_are_just_text(running: Running) -> None:
    for text in ("a\0b", "\u202e\u200b", "\ufffe", "👩‍👩‍👧‍👦", "e" + "\u0301" * 500, " \t\n"):
        response = await running.client.post("/embed", json={"inputs": text})
        assert response.status_code == 200, text


async def test_surrogates_are_explained(running: Running) -> None:
    response = await running.client.post("/embed", content=b'{"inputs": "\\ud83d"}', headers=JSON)
    assert "surrogate" in str(assert_problem(response, 400, field="body")["remedy"])


@pytest.mark.parametrize("text", ["Où ?".encode("latin-1"), b"\xed\xa0\x80"])
async def test_another_encoding_is_named_as_such(running: Running, text: bytes) -> None:
    body = b'{"inputs": "' + text + b'"}'
    response = await running.client.post("/embed", content=body, headers=JSON)
    problem = assert_problem(response, 400, field="body")
    assert "is not UTF-8" in str(problem["detail"])
    assert "surrogate" not in str(problem)


@pytest.mark.parametrize(
    "content_type",
    [None, "text/plain", "application/x-www-form-urlencoded", "application/x-ndjson", "nonsense"],
)
async def test_another_content_type_is_refused(running: Running, content_type: str | None) -> None:
    headers = {"content-type": content_type} if content_type else {}
    response = await running.client.post("/embed", content=b'{"inputs": "a"}', headers=headers)
    assert_problem(response, 415, field="content-type")


@pytest.mark.parametrize(
    "content_type", ["application/json; charset=utf-8", "Application/JSON", "application/x+json"]
)
async def test_json_may_be_spelt_in_several_ways(running: Running, content_type: str) -> None:
    headers = {"content-type": content_type}
    response = await running.client.post("/embed", content=b'{"inputs": "a"}', headers=headers)
    assert response.status_code == 200


@pytest.mark.parametrize("path", ["/embed", "/corpora/library/documents"])
async def test_a_compressed_body_is_refused_as_such(running: Running, path: str) -> None:
    await running.fill()
    kind = "application/json" if path == "/embed" else "application/x-ndjson"
    headers = {"content-type": kind, "content-encoding": "gzip"}
    body = gzip.compress(b'{"id": "a", "text": "a", "inputs": "a"}')
    response = await running.client.post(path, content=body, headers=headers)
    assert_problem(response, 415, field="content-encoding")
    plain = {"content-type": "application/json", "content-encoding": "identity"}
    response = await running.client.post("/embed", content=b'{"inputs": "a"}', headers=plain)
    assert response.status_code == 200


@given(st.binary(max_size=200))
def test_any_bytes_parse_or_are_malformed(text: bytes) -> None:
    try:
        parse_json(text)
    except MalformedError as error:
        assert error.remedy  # noqa: PT017


def request_of(chunks: list[bytes]) -> Request:
    messages: list[Message] = [
        {"type": "http.request", "body": chunk, "more_body": True} for chunk in chunks
    ]
    messages.append({"type": "http.request", "body": b"", "more_body": False})
    waiting = iter(messages)

    async def receive() -> Message:
        return next(waiting)

    return Request({"type": "http", "headers": []}, receive)


@given(st.lists(st.binary(max_size=12), max_size=12))
@example([codecs.BOM_UTF8])
@example([codecs.BOM_UTF8[:1], codecs.BOM_UTF8[1:] + b"a"])
async def test_lines_do_not_depend_on_how_they_were_cut_up(chunks: list[bytes]) -> None:
    read = [pair async for pair in lines(request_of(chunks), limit_bytes=1000)]
    whole = b"".join(chunks).removeprefix(codecs.BOM_UTF8).split(b"\n")
    assert read == [(n, line) for n, line in enumerate(whole, start=1) if line.strip()]


async def test_a_line_without_an_end_is_not_gathered_for_ever() -> None:
    chunks = [b"x" * 100] * 50
    with pytest.raises(TooLargeError):
        _ = [pair async for pair in lines(request_of(chunks), limit_bytes=1000)]
