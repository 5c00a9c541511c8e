from __future__ import annotations

import asyncio
from pathlib import Path

import httpx
import pytest

from service.settings import Settings
from tests.service.api.running import (
    Gate,
    Running,
    assert_problem,
    post_and_leave,
    tiny_settings,
)

LONG = ["The cat sleeps on the warm windowsill."] * 12
"""One batch, and more than what is little: that would not wait."""


@pytest.fixture
def settings(tiny_bundle: Path, tiny_head: Path, tmp_path: Path) -> Settings:
    """A queue that holds one such request."""
    return tiny_settings(
        tiny_bundle, tmp_path, head=[tiny_head], batch_tokens=256, queue_tokens=256,
        request_timeout_seconds=5.0,
    )  # fmt: skip


async def post(running: Running, timeout: str | None = None) -> httpx.Response:
    headers = {"x-request-timeout": timeout} if timeout else {}
    return await running.client.post("/embed", json={"inputs": LONG}, headers=headers)


async def start_and_reach(running: Running, gate: Gate) -> asyncio.Task[httpx.Response]:
    first = asyncio.create_task(post(running))
    await asyncio.to_thread(gate.reached.wait, 10)
    return first


async def until_queued(running: Running) -> None:
    while running.state.resources.engine.queue.depth == 0:
        await asyncio.sleep(0.005)


async def test_a_full_queue_refuses_at_once_and_says_when_to_come_again(
    running: Running, gate: Gate
) -> None:
    first = await start_and_reach(running, gate)
    second = asyncio.create_task(post(running))
    await until_queued(running)
    refused = await post(running)
    assert_problem(refused, 429)
    assert int(refused.headers["retry-after"]) >= 1
    assert refused.json()["type"].endswith("overloaded")
    assert await running.metric("interlingua_queue_depth") > 0
    assert await running.metric("interlingua_rejected_total", reason="overloaded") == 1
    openai = await running.client.post("/v1/embeddings", json={"input": LONG})
    assert (openai.status_code, openai.json()["error"]["type"]) == (429, "rate_limit_error")
    assert "retry-after" in openai.headers
    gate.opened.set()
    assert (await first).status_code == (await second).status_code == 200


async def test_a_full_queue_is_not_ready_for_more(running: Running, gate: Gate) -> None:
    first = await start_and_reach(running, gate)
    second = asyncio.create_task(post(running))
    await until_queued(running)
    queue = running.state.resources.engine.queue
    full = queue.tokens >= queue.capacity_tokens
    response = await running.client.get("/health/ready")
    assert response.status_code == (503 if full else 200)
    assert (await running.client.get("/health/live")).status_code == 200
    gate.opened.set()
    await asyncio.gather(first, second)
    assert (await running.client.get("/health/ready")).status_code == 200


async def test_the_deadline_is_the_clients(running: Running, gate: Gate) -> None:
    response = await post(running, timeout="0.05")
    assert_problem(response, 504)
    assert float(response.headers["x-total-time"]) < 2000
    assert await running.metric("interlingua_rejected_total", reason="deadline") == 1


async def test_at_most_the_operators(tiny_bundle: Path, running: Running, gate: Gate) -> None:
    running.state.settings.request_timeout_seconds = 0.05
    assert_problem(await post(running, timeout="1000"), 504)


@pytest.mark.parametrize("timeout", ["0", "-1", "soon", "nan", "inf", "1e999"])
async def test_a_timeout_that_is_none_is_refused(running: Running, timeout: str) -> None:
    assert_problem(await post(running, timeout=timeout), 422, field="x-request-timeout")


async def test_the_work_of_a_client_that_is_gone_is_dropped(running: Running, gate: Gate) -> None:
    first = await start_and_reach(running, gate)
    gone = asyncio.Event()
    second = asyncio.create_task(post_and_leave(running, "/embed", {"inputs": LONG}, leave=gone))
    await until_queued(running)
    gone.set()
    assert await asyncio.wait_for(second, 5) == []
    gate.opened.set()
    assert (await first).status_code == 200
    assert await running.metric("interlingua_cancelled_total") == 1
    assert await running.metric("interlingua_batch_size_count") == 1


async def test_many_at_once_are_all_answered_one_way_or_the_other(running: Running) -> None:
    statuses = [r.status_code for r in await asyncio.gather(*(post(running) for _ in range(100)))]
    assert set(statuses) <= {200, 429}
    assert statuses.count(200) >= 1
    assert await running.metric(
        "interlingua_rejected_total", reason="overloaded"
    ) == statuses.count(429)
    assert running.state.resources.engine.queue.tokens == 0
