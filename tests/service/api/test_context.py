from __future__ import annotations

import asyncio
import logging

import pytest
from starlette.types import Message

from service.inference.engine import Engine
from tests.service.api.running import Running, assert_problem


@pytest.mark.parametrize("given", ["abc-123", "x" * 128, "a/b:c"])
async def test_a_clients_request_id_comes_back(running: Running, given: str) -> None:
    response = await running.client.get("/models", headers={"x-request-id": given})
    assert response.headers["x-request-id"] == given


@pytest.mark.parametrize("given", ["", "x" * 129, "a b", "é".encode(), b"a\tb"])
async def test_one_that_is_none_is_replaced(running: Running, given: str | bytes) -> None:
    headers: dict[str, str | bytes] = {"x-request-id": given}
    response = await running.client.get("/models", headers=headers)  # type: ignore[arg-type]
    assert len(response.headers["x-request-id"]) == 32


async def test_requests_are_counted_by_route_template_and_status(running: Running) -> None:
    for path in ("/corpora/one", "/corpora/two", "/nothing/here", "/health/live"):
        await running.client.get(path)
    await running.client.post("/embed", json={"inputs": "a"})
    name = "interlingua_requests_total"
    assert await running.metric(name, route="/corpora/{name}", status="404") == 2
    assert await running.metric(name, route="unmatched", status="404") == 1
    assert await running.metric(name, route="/health/live", status="200") == 1
    assert await running.metric(name, route="/embed", status="200") == 1
    assert await running.metric("interlingua_request_seconds_count", route="/embed") == 1
    # The request for the metrics is the one in flight.
    assert await running.metric("interlingua_inflight_requests") == 1


async def test_an_unforeseen_error_is_a_500_that_tells_nothing_and_is_logged(
    running: Running, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def explode(*_: object) -> None:
        raise ZeroDivisionError("a secret of ours")

    monkeypatch.setattr(Engine, "embed", explode)
    response = await running.client.post("/embed", json={"inputs": "a text of theirs"})
    assert_problem(response, 500)
    assert "secret" not in response.text
    assert "ZeroDivisionError" in caplog.text
    assert await running.metric("interlingua_requests_total", route="/embed", status="500") == 1


async def test_the_log_has_one_line_a_request_and_no_text(
    running: Running, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        await running.client.get("/similar", params={"q": "confidential words"})
        await running.client.post("/embed", json={"inputs": "confidential words"})
        await running.client.post("/embed", json={"inputs": ["confidential words", 3]})
    lines = [record for record in caplog.records if record.name == "service.access"]
    assert [(r.route, r.status) for r in lines] == [  # type: ignore[attr-defined]
        ("/similar", 404),
        ("/embed", 200),
        ("/embed", 400),
    ]
    ours = [record for record in caplog.records if record.name.startswith("service")]
    assert "confidential" not in "".join(str(vars(record)) for record in ours)


@pytest.mark.parametrize(("leaving", "status"), [(False, 499), (True, 503)])
async def test_a_request_that_is_cancelled_is_logged_as_it_is_counted(
    running: Running, caplog: pytest.LogCaptureFixture, leaving: bool, status: int
) -> None:
    sent: list[Message] = []

    async def receive() -> Message:
        await asyncio.sleep(20)
        raise AssertionError("it was cancelled")

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": "/embed", "query_string": b"",
             "headers": [(b"content-type", b"application/json")]}  # fmt: skip
    request = asyncio.create_task(running.app(scope, receive, send))
    await asyncio.sleep(0.1)
    if leaving:
        running.state.begin_leaving()
    request.cancel()
    with caplog.at_level(logging.INFO):
        await asyncio.wait([request])
    assert request.cancelled() != leaving
    assert [message.get("status") for message in sent] == ([503, None] if leaving else [])
    lines = [record for record in caplog.records if record.name == "service.access"]
    assert [line.status for line in lines] == [status]  # type: ignore[attr-defined]
    name = "interlingua_requests_total"
    assert await running.metric(name, route="/embed", status=str(status)) == 1


async def test_an_answer_that_cannot_be_sent_is_a_client_that_left(
    running: Running, caplog: pytest.LogCaptureFixture
) -> None:
    async def receive() -> Message:
        raise AssertionError("a page has no body")

    async def send(message: Message) -> None:
        raise ConnectionResetError

    scope = {"type": "http", "method": "GET", "path": "/openapi.json", "query_string": b"",
             "headers": [(b"host", b"localhost")]}  # fmt: skip
    with caplog.at_level(logging.INFO):
        await running.app(scope, receive, send)
    assert [r.status for r in caplog.records if r.name == "service.access"] == [499]  # type: ignore[attr-defined]
    assert "bug" not in caplog.text
    assert await running.metric("interlingua_requests_total", route="unmatched", status="499") == 1
