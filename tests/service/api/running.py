"""The real application on a tiny real model, spoken to over ASGI."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
from fastapi import FastAPI
from prometheus_client.parser import text_string_to_metric_families
from starlette.types import Message

from service.api.state import State, state_of
from service.app import create_app
from service.inference.session import Session, Vectors
from service.settings import Settings
from service.text.tokenizer import Inputs

DOCUMENTS: list[dict[str, object]] = [
    {"id": "cat-en", "text": "The cat sleeps on the warm windowsill.", "language": "en",
     "metadata": {"topic": "animals", "year": 2001}},
    {"id": "cat-de", "text": "Die Katze schläft auf der warmen Fensterbank.", "language": "de",
     "metadata": {"topic": "animals", "year": 2002}},
    {"id": "cat-ja", "text": "猫は暖かい窓辺で眠っている。", "language": "ja",
     "metadata": {"topic": "animals", "year": 2003}},
    {"id": "bread-en", "text": "Fresh bread smells best in the early morning.", "language": "en",
     "metadata": {"topic": "food", "year": 2004}},
    {"id": "bread/de", "text": "Frisches Brot duftet am frühen Morgen am besten.", "language": "de",
     "metadata": {"topic": "food", "year": 2005}},
]  # fmt: skip


def tiny_settings(bundle: Path, data: Path, **changes: object) -> Settings:
    """Settings for one worker, one tiny model and no demo corpus; `changes` override."""
    values: dict[str, object] = {
        "model": [bundle],
        "head": [],
        "data": data,
        "demo_corpus": False,
        "workers": 1,
        "request_timeout_seconds": 20.0,
    }
    return Settings.model_validate(values | changes)


@dataclass(frozen=True, slots=True)
class Running:
    """A started application."""

    app: FastAPI
    client: httpx.AsyncClient

    @property
    def state(self) -> State:
        return state_of(self.app)

    async def metric(self, name: str, **labels: str) -> float:
        """Return a sample of /metrics; 0 where there is none yet."""
        page = (await self.client.get("/metrics")).text
        for family in text_string_to_metric_families(page):
            for sample in family.samples:
                if sample.name == name and sample.labels == labels:
                    return float(sample.value)
        return 0.0

    async def fill(self, corpus: str = "library") -> None:
        """Make a corpus of `DOCUMENTS`."""
        made = await self.client.put(f"/corpora/{corpus}")
        assert made.status_code == 201, made.text
        stored = await self.client.post(
            f"/corpora/{corpus}/documents", json={"documents": DOCUMENTS}
        )
        assert stored.status_code == 200, stored.text


@asynccontextmanager
async def run_app(settings: Settings) -> AsyncIterator[Running]:
    """Start the application, wait until it is loaded, stop it in the end."""
    app = create_app(settings)
    transport = httpx.ASGITransport(app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://localhost") as client,
    ):
        await state_of(app).wait_until_settled()
        yield Running(app, client)


async def post_and_leave(
    running: Running, path: str, body: object, *, leave: asyncio.Event
) -> list[Message]:
    """Post `body` as a client that is gone once `leave` is set; return what was sent to it."""
    return await ask_and_leave(running, path, leave=leave, body=json.dumps(body).encode())


async def ask_and_leave(
    running: Running, path: str, *, leave: asyncio.Event, query: bytes = b"", body: bytes = b""
) -> list[Message]:
    """Get `path`, or post `body`, as a client that is gone once `leave` is set."""
    sent: list[Message] = []
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Message:
        if messages:
            return messages.pop()
        await leave.wait()
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {
        "type": "http", "method": "POST" if body else "GET", "path": path, "query_string": query,
        "root_path": "", "headers": [(b"content-type", b"application/json")],
    }  # fmt: skip
    await running.app(scope, receive, send)
    return sent


class Gate:
    """Holds every batch of a session back until it is opened."""

    def __init__(self, session: Session) -> None:
        self.opened = threading.Event()
        self.reached = threading.Event()
        self._run = session.run

    def __call__(self, inputs: Inputs) -> Vectors:
        self.reached.set()
        assert self.opened.wait(20), "the test never opened the gate"
        return self._run(inputs)


def assert_problem(
    response: httpx.Response, status: int, *, field: str | None = None
) -> dict[str, object]:
    """Check that `response` is a whole problem+json with a remedy, and return it."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    problem: dict[str, object] = response.json()
    assert problem["status"] == status
    assert str(problem["type"]).startswith("urn:interlingua:problem:")
    assert problem["title"]
    assert problem["detail"]
    assert problem["remedy"], problem
    assert problem["request_id"] == response.headers["x-request-id"]
    if field is not None:
        assert problem["field"] == field, problem
    return problem
