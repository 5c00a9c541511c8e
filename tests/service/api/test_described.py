from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from service.api import described
from service.settings import Settings
from tests.service.api.running import (
    Gate,
    Running,
    assert_problem,
    post_and_leave,
    tiny_settings,
)

WORDS = {"animals": "cat, Katze, chat", "food": "bread, Brot"}
BODY = {"inputs": ["The cat sleeps.", "Fresh bread."], "labels": WORDS}
LONG = ["The cat sleeps on the warm windowsill."] * 12
LONG_LABELS = {"a": ", ".join(f"{text} {number}" for number, text in enumerate(LONG)), "b": ""}


@pytest.fixture
def settings(tiny_bundle: Path, tmp_path: Path) -> Settings:
    """A queue that is soon full, and fewer texts a request than labels have."""
    return tiny_settings(tiny_bundle, tmp_path, batch_tokens=64, queue_tokens=256, max_inputs=12)


async def test_labels_have_more_texts_than_a_request_may(running: Running) -> None:
    more = {"rivers": "river, Fluss, water, sea, sand, stones"}
    response = await running.client.post("/classify", json=BODY | {"labels": WORDS | more})
    assert [row[0]["label"] for row in response.json()] == ["animals", "food"]


async def test_they_are_bounded_all_the_same(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(described, "MAX_PIECES", 8)
    assert_problem(await running.client.post("/classify", json=BODY), 413, field="labels")


async def test_the_headers_tell_of_the_inputs_alone(running: Running) -> None:
    labels = {"animals": "cat " * 500, "food": "bread"}
    response = await running.client.post("/classify", json=BODY | {"labels": labels})
    assert "x-truncated" not in response.headers
    characters = sum(map(len, BODY["inputs"]))
    assert response.headers["x-compute-characters"] == str(characters)


async def test_the_deadline_holds_for_labels(running: Running, gate: Gate) -> None:
    began = time.perf_counter()
    response = await running.client.post(
        "/classify", json=BODY, headers={"x-request-timeout": "0.2"}
    )
    assert time.perf_counter() - began < 5
    assert_problem(response, 504)


async def test_labels_are_refused_where_the_queue_is_full(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (await running.client.post("/classify", json=BODY)).status_code == 200
    session = running.state.resources.default_encoder.towers["*"].session
    gate = Gate(session)
    monkeypatch.setattr(session, "run", gate)
    full = [
        asyncio.create_task(running.client.post("/embed", json={"inputs": LONG})) for _ in range(12)
    ]
    await asyncio.wait(full, return_when=asyncio.FIRST_COMPLETED, timeout=10)
    body = {"inputs": "cat", "labels": LONG_LABELS}
    answer = asyncio.create_task(running.client.post("/classify", json=body))
    await asyncio.wait([answer], timeout=5)
    gate.opened.set()
    assert 429 in [response.status_code for response in await asyncio.gather(*full)]
    assert_problem(await answer, 429)
    assert int((await answer).headers["retry-after"]) >= 1


async def test_the_labels_of_a_client_that_is_gone_are_dropped(
    running: Running, gate: Gate
) -> None:
    leave = asyncio.Event()
    posted = asyncio.create_task(post_and_leave(running, "/classify", BODY, leave=leave))
    await asyncio.to_thread(gate.reached.wait, 10)
    leave.set()
    assert await asyncio.wait_for(posted, 5) == []
