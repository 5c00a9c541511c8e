"""What was acknowledged is there after the process was killed, and after a clean stop."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from service.search.corpus import INDEX_FILE, STORE_FILE
from service.shipped import shipped_models
from tests.e2e.conftest import start_server

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(not shipped_models(), reason="no model is shipped in this checkout"),
]

DOCUMENTS = [
    {"id": "a", "text": "Die Bibliothek öffnet um neun Uhr.", "language": "de"},
    {"id": "b", "text": "Our goats escaped through a hole in the fence.", "language": "en"},
    {"id": "c", "text": "明天早上会下大雪。", "language": "zh", "metadata": {"topic": "weather"}},
]


def test_kill_and_restart_keeps_the_corpus(tmp_path: Path) -> None:
    first = start_server(tmp_path, "--no-demo-corpus")
    assert first.client.put("/corpora/notes", json={}).status_code == 201
    upserted = first.client.post("/corpora/notes/documents", json={"documents": DOCUMENTS})
    assert upserted.status_code == 200, upserted.text
    query = {"corpus": "notes", "inputs": "When does the library open?", "k": 2}
    before = first.client.post("/similar", json=query).json()
    first.kill()

    second = start_server(tmp_path, "--no-demo-corpus")
    after = second.client.post("/similar", json=query).json()
    assert after == before
    assert after[0][0]["id"] == "a"
    assert second.client.get("/corpora/notes").json()["documents"] == 3
    assert second.client.delete("/corpora/notes/documents/b").status_code in (200, 204)
    assert second.stop() == 0

    third = start_server(tmp_path, "--no-demo-corpus")
    assert third.client.get("/corpora/notes/documents/b").status_code == 404
    assert third.client.get("/corpora/notes/documents/c").json()["metadata"] == {"topic": "weather"}
    assert third.stop() == 0


def test_the_first_question_has_its_answer_over_the_demo_of_an_earlier_build(
    tmp_path: Path,
) -> None:
    question = {"q": "Warum verstimmt sich meine Gitarre?", "languages": "en,fr,ja", "k": "3"}
    first = start_server(tmp_path)
    expected = first.client.get("/similar", params=question).json()
    assert len(expected) == 3
    assert first.stop() == 0
    folder = tmp_path / "corpora" / "demo"
    (folder / INDEX_FILE).unlink()
    with closing(sqlite3.connect(folder / STORE_FILE)) as connection:
        connection.executescript("""
            UPDATE vectors SET vector = (SELECT vector FROM vectors LIMIT 1);
            ALTER TABLE corpus DROP COLUMN identity;
            PRAGMA user_version = 3;
        """)

    second = start_server(tmp_path)
    assert second.client.get("/similar", params=question).json() == expected
    assert second.stop() == 0
