"""Fits that are broken off, and requests that come while one runs."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress

import pytest
from starlette.requests import ClientDisconnect
from starlette.types import Message, Scope

from service.classification import making
from service.inference.session import Vectors
from service.jobs.job import Job
from service.settings import Settings
from service.text.tokenizer import Inputs
from tests.service.api.running import Gate, Running, assert_problem, run_app
from tests.service.api.test_fitting import EXAMPLES, fitted, labels_of

MANY = [{**row, "text": f"{row['text']} {n}"} for n in range(60) for row in EXAMPLES]


async def test_requests_go_before_the_texts_of_a_fit(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model at work on a fit's batches, hundreds to come: a request is next all the same."""
    small = settings.model_copy(update={"batch_tokens": 64})
    async with run_app(small) as running:
        session = running.state.resources.default_encoder.towers["*"].session
        gate, batches = Gate(session), []

        def run(inputs: Inputs) -> Vectors:
            batches.append(inputs["ids"].shape)
            return gate(inputs)

        monkeypatch.setattr(session, "run", run)
        response = await running.client.put("/classifiers/things", json={"examples": MANY})
        assert response.status_code == 202
        assert await asyncio.to_thread(gate.reached.wait, 20)
        await asyncio.sleep(0.1)  # until all that the fit sends at once has come
        assert running.state.resources.engine.queue.depth > 10
        asked = asyncio.create_task(running.client.post("/embed", json={"inputs": "cat " * 40}))
        await asyncio.sleep(0.1)
        gate.opened.set()
        assert (await asked).status_code == 200
        job = await running.client.get(response.headers["location"], params={"wait": 20})
        assert job.json()["state"] == "succeeded"
        assert sum(texts for texts, _ in batches) > len(MANY)
        turn = [width > 30 for _, width in batches].index(True)
        assert turn <= 2, f"the request was computed after {turn} batches of the fit"


async def test_a_cancelled_fit_leaves_the_old_version(
    running: Running, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fitted(running, "things", {"examples": EXAMPLES})
    before = sorted(path for path in settings.data.glob("classifiers/**/*"))
    begun = asyncio.Event()
    loop = asyncio.get_running_loop()

    def held_up(*args: object, watcher: Job, **kwargs: object) -> object:
        loop.call_soon_threadsafe(begun.set)
        while True:
            watcher.check()

    monkeypatch.setattr(making, "fit", held_up)
    response = await running.client.put("/classifiers/things", json={"examples": EXAMPLES})
    assert response.status_code == 202
    await asyncio.wait_for(begun.wait(), 20)
    again = await running.client.put("/classifiers/things", json={"examples": EXAMPLES})
    assert_problem(again, 409)
    place = response.headers["location"]
    await running.client.delete(place)
    job = (await running.client.get(place, params={"wait": 20})).json()
    assert job["state"] == "cancelled"
    assert sorted(settings.data.glob("classifiers/**/*")) == before
    assert await labels_of(running, "things", ["The cat sleeps."]) == ["cat"]


async def test_a_fit_cancelled_while_it_encodes_leaves_nothing(
    running: Running, gate: Gate, settings: Settings
) -> None:
    response = await running.client.put("/classifiers/things", json={"examples": MANY})
    assert response.status_code == 202
    assert await asyncio.to_thread(gate.reached.wait, 20)
    place = response.headers["location"]
    await running.client.delete(place)
    gate.opened.set()
    job = (await running.client.get(place, params={"wait": 20})).json()
    assert job["state"] == "cancelled"
    assert not list(settings.data.glob("classifiers/*"))
    assert_problem(await running.client.get("/classifiers/things"), 404)
    await fitted(running, "things", {"examples": EXAMPLES})


async def test_a_body_that_breaks_off_fits_nothing(running: Running, settings: Settings) -> None:
    """A client that is gone in the middle of its lines: what came of them is no classifier."""

    lines = b"".join(json.dumps(row).encode() + b"\n" for row in MANY)
    messages: list[Message] = [
        {"type": "http.request", "body": lines, "more_body": True},
        {"type": "http.disconnect"},
    ]
    scope: Scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "PUT",
        "scheme": "http",
        "path": "/classifiers/things",
        "raw_path": b"/classifiers/things",
        "query_string": b"",
        "headers": [(b"host", b"localhost"), (b"content-type", b"application/x-ndjson")],
        "client": ("127.0.0.1", 1),
        "server": ("localhost", 80),
    }

    sent: list[Message] = []

    async def receive() -> Message:
        return messages.pop(0)

    async def send(message: Message) -> None:
        sent.append(message)

    with suppress(ClientDisconnect):
        await running.app(scope, receive, send)
    assert not messages, sent
    assert (await running.client.get("/jobs")).json()["jobs"] == []
    assert not list(settings.data.glob("classifiers/*"))


async def test_a_version_that_is_dropped_meanwhile_is_explained_without_examples(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fitted(running, "things", {"examples": EXAMPLES})
    classifiers = running.state.resources.classifiers
    head = classifiers.get("things")
    classifiers.drop("things")
    monkeypatch.setattr(classifiers, "get", {"things": head}.__getitem__)
    body = {"classifier": "things", "inputs": "The cat sleeps.", "explain": True}
    response = await running.client.post("/classify", json=body)
    assert response.status_code == 200, response.text
    explanation = response.json()[0]["explanation"]
    assert explanation["parts"]
    assert explanation["examples"] == []
