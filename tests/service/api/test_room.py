from __future__ import annotations

import asyncio
from asyncio import Event
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from pydantic import SecretStr
from starlette.types import Message

from service.inference.queue import CLIENT_SHARE, FEW_REQUESTS, WorkQueue
from tests.service.api.running import Running, assert_problem, run_app, tiny_settings

LARGE = {"content-type": "application/json", "content-length": "1000000"}


class Body:
    """A body that tells whether it was read."""

    read = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        self.read = True
        yield b"{}"


@pytest.fixture
async def keyed(tiny_bundle: Path, tmp_path: Path) -> AsyncIterator[Running]:
    settings = tiny_settings(tiny_bundle, tmp_path, api_keys=[SecretStr("a"), SecretStr("b")])
    async with run_app(settings) as running:
        yield running


def queue_of(running: Running) -> WorkQueue:
    return running.state.resources.engine.queue


def client_of(running: Running, key: str) -> str:
    grant = running.state.keys.find(key)
    assert grant is not None
    return grant.client


@contextmanager
def filled(queue: WorkQueue, tokens: int, *, client: str = "") -> Iterator[None]:
    """Let as many requests wait as are let in whatever they take, for `tokens` in all."""
    with ExitStack() as stack:
        for _ in range(FEW_REQUESTS):
            stack.enter_context(queue.entered(client))
        with queue.admitted(tokens, client=client):
            yield


@pytest.mark.parametrize("path", ["/embed", "/v1/embeddings", "/classify", "/v2/rerank"])
async def test_a_large_body_is_refused_unread_where_the_queue_is_full(
    running: Running, path: str
) -> None:
    queue, body = queue_of(running), Body()
    with filled(queue, queue.room_tokens):
        response = await running.client.post(path, content=aiter(body), headers=LARGE)
    assert response.status_code == 429
    assert not body.read
    assert int(response.headers["retry-after"]) >= 1
    assert response.headers["x-request-id"]
    assert await running.metric("interlingua_rejected_total", reason="overloaded") == 1


async def test_a_small_body_is_read_and_waits_its_turn(running: Running) -> None:
    queue = queue_of(running)
    with filled(queue, queue.room_tokens):
        response = await running.client.post("/embed", json={"inputs": "cat"})
    assert response.status_code == 200


async def test_a_search_is_not(running: Running) -> None:
    queue, body = queue_of(running), Body()
    with filled(queue, queue.room_tokens):
        response = await running.client.post("/similar", content=aiter(body), headers=LARGE)
    assert_problem(response, 422)
    assert body.read


async def test_only_the_key_that_fills_it_is_refused(keyed: Running) -> None:
    queue = queue_of(keyed)
    with filled(queue, int(0.9 * CLIENT_SHARE * queue.room_tokens), client=client_of(keyed, "a")):
        statuses = {}
        for key in ("a", "b", "c"):
            headers = LARGE | {"authorization": f"Bearer {key}"}
            response = await keyed.client.post("/embed", content=aiter(Body()), headers=headers)
            statuses[key] = response.status_code
    assert statuses == {"a": 429, "b": 400, "c": 401}


@pytest.fixture
async def narrow(tiny_bundle: Path, tmp_path: Path) -> AsyncIterator[Running]:
    settings = tiny_settings(
        tiny_bundle, tmp_path, max_requests=5, api_keys=[SecretStr("a"), SecretStr("b")]
    )
    async with run_app(settings) as running:
        yield running


async def test_so_many_requests_are_answered_at_a_time_and_no_key_has_them_all(
    narrow: Running,
) -> None:
    slow = Event()

    async def body() -> AsyncIterator[bytes]:
        await slow.wait()
        yield b'{"inputs": "cat", "corpus": "none"}'

    async def search(key: str) -> int:
        headers = {"content-type": "application/json", "authorization": f"Bearer {key}"}
        response = await narrow.client.post("/similar", content=body(), headers=headers)
        return response.status_code

    async with asyncio.TaskGroup() as group:
        first = [group.create_task(search("a")) for _ in range(4)]
        await asyncio.sleep(0.05)
        assert await search("a") == 429
        other = group.create_task(search("b"))
        await asyncio.sleep(0.05)
        assert await search("b") == 429
        assert (await narrow.client.get("/health/ready")).status_code == 200
        slow.set()
    assert {task.result() for task in [*first, other]} == {404}
    assert await search("a") == 404
    assert await narrow.metric("interlingua_rejected_total", reason="overloaded") == 2


async def test_who_comes_without_a_key_leaves_room_for_the_keys(narrow: Running) -> None:
    async with asyncio.TaskGroup() as group:
        read = Event()
        unread = [group.create_task(ask_for_page(narrow, read)) for _ in range(4)]
        await asyncio.sleep(0.05)
        refused = await narrow.client.get("/openapi.json")
        assert "4 of them without a key" in str(assert_problem(refused, 429)["detail"])
        headers = {"authorization": "Bearer a"}
        assert (await narrow.client.get("/models", headers=headers)).status_code == 200
        read.set()
    assert [task.result() for task in unread] == [200] * 4


async def test_where_there_are_no_keys_all_may_have_all(tiny_bundle: Path, tmp_path: Path) -> None:
    async with (
        run_app(tiny_settings(tiny_bundle, tmp_path, max_requests=5)) as running,
        asyncio.TaskGroup() as group,
    ):
        read = Event()
        for _ in range(4):
            group.create_task(ask_for_page(running, read))
        await asyncio.sleep(0.05)
        assert (await running.client.get("/models")).status_code == 200
        read.set()


async def ask_for_page(running: Running, read: Event) -> int:
    """Ask for a public page without a key, and take the answer when `read` is set."""
    statuses: list[int] = []

    async def receive() -> Message:
        raise AssertionError("a page has no body")

    async def send(message: Message) -> None:
        await read.wait()
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    scope = {"type": "http", "method": "GET", "path": "/openapi.json", "query_string": b"",
             "headers": [(b"host", b"localhost")]}  # fmt: skip
    await running.app(scope, receive, send)
    return statuses[0]
