"""A real browser without a screen, on a real server."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from itertools import product

import httpx
import orjson
import pytest
from playwright.sync_api import Browser, Error, Page, Route, expect, sync_playwright

from tests.e2e.conftest import Server

__all__ = ["Browser", "Page", "Route", "expect"]

FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
BIG = 10_000


# Not of the session: while playwright runs, so does its loop, and async tests could have none.
@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    found = next(filter(None, map(shutil.which, names)), None)
    with sync_playwright() as started:
        try:
            launched = started.chromium.launch(executable_path=found, args=list(FLAGS))
        except Error as error:
            if found is not None:
                raise
            pytest.skip(f"no Chromium on the PATH, and none of playwright's: {error.message[:80]}")
        yield launched
        launched.close()


@pytest.fixture(scope="package")
def complaints() -> list[str]:
    return []


@pytest.fixture
def page(browser: Browser, server: Server, complaints: list[str]) -> Iterator[Page]:
    """A page that has been opened; what it writes to the console as an error fails the test."""
    context = browser.new_context(base_url=server.url, viewport={"width": 1200, "height": 900})
    opened = context.new_page()
    opened.set_default_timeout(10_000)
    complaints.clear()
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on(
        "console",
        lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None,
    )
    opened.goto("/")
    opened.wait_for_selector("#corpus option", state="attached")
    yield opened
    context.close()
    assert complaints == []


PEOPLE = (
    "baker", "pilot", "nurse", "farmer", "judge",
    "painter", "miner", "singer", "tailor", "cook",
)  # fmt: skip
DOINGS = (
    "sells", "repairs", "forgets", "paints", "borrows",
    "hides", "finds", "counts", "washes", "buys",
)  # fmt: skip
THINGS = (
    "bicycle", "violin", "ladder", "kettle", "window",
    "carpet", "hammer", "lamp", "basket", "mirror",
)  # fmt: skip
PLACES = (
    "bridge", "market", "harbour", "museum", "station",
    "forest", "school", "castle", "garden", "farm",
)  # fmt: skip


def big_corpus() -> Iterator[bytes]:
    """Give 10,000 made-up sentences as JSON lines."""
    every = product(PLACES, THINGS, DOINGS, PEOPLE)
    for number, (place, thing, doing, person) in enumerate(every):
        text = f"The {person} {doing} a {thing} near the {place}."
        yield orjson.dumps({"id": str(number), "text": text, "language": "en"}) + b"\n"


@pytest.fixture
def big(server: Server) -> str:
    """A corpus of 10,000 documents on the server."""
    client: httpx.Client = server.client
    if client.put("/corpora/big", json={}).status_code == 201:
        stored = client.post(
            "/corpora/big/documents",
            content=b"".join(big_corpus()),
            headers={"content-type": "application/x-ndjson"},
            timeout=60,
        )
        assert stored.json()["inserted"] == BIG, stored.text
    return "big"
