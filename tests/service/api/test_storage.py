"""What the disk refuses is told to clients without paths of the machine, and logged with them."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from service.settings import Settings
from tests.service.api.running import assert_problem, run_app


@pytest.mark.parametrize("damage", ["no database", "cut rows"])
async def test_a_damaged_corpus_does_not_disclose_where_it_is(
    settings: Settings, caplog: pytest.LogCaptureFixture, damage: str
) -> None:
    async with run_app(settings) as running:
        await running.client.put("/corpora/library", json={})
        documents = [{"id": f"{i}", "text": "rivers " * 200} for i in range(200)]
        await running.client.post("/corpora/library/documents", json={"documents": documents})
    path: Path = settings.data / "corpora" / "library" / "documents.sqlite3"
    content = path.read_bytes()
    # With the schema whole it opens, and only reading the rows fails.
    kept = content[: 100 if damage == "no database" else 65_536]
    path.write_bytes(kept + b"\xff" * (len(content) - len(kept)))
    caplog.set_level(logging.ERROR)
    async with run_app(settings) as running:
        response = await running.client.get("/corpora/library/documents?limit=1000")
    assert assert_problem(response, 503)["remedy"]
    assert str(settings.data) not in response.text
    assert "sqlite3" not in response.text
    assert str(path.parent) in caplog.text
