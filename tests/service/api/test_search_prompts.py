"""Models with a prompt for each side of a search: both are put, wherever a text comes from."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest

from service.inference.encoder import Encoder
from tests.service.api.running import Running, run_app, tiny_settings

ASKED = "Where does the cat sleep?"
TEXT = "The cat sleeps on the warm windowsill."


@pytest.fixture
async def searching(
    searching_bundle: Path, tiny_bundle: Path, tmp_path: Path
) -> AsyncIterator[Running]:
    models = [searching_bundle, tiny_bundle]
    async with run_app(tiny_settings(searching_bundle, tmp_path / "data", model=models)) as running:
        yield running


@pytest.fixture
def expected(tiny_encoder: Encoder) -> float:
    """The cosine of the question and the text, each with its prompt."""
    asked, text = tiny_encoder.encode([f"question: {ASKED}", f"text: {TEXT}"])
    return float(asked @ text)


async def _score(running: Running, corpus: str) -> float:
    (hits,) = (
        await running.client.post("/similar", json={"inputs": ASKED, "corpus": corpus})
    ).json()
    (got,) = (await running.client.get("/similar", params={"q": ASKED, "corpus": corpus})).json()
    assert got == hits[0]
    return float(got["score"])


@pytest.mark.parametrize("kind", ["application/json", "application/x-ndjson"])
async def test_documents_and_questions(searching: Running, expected: float, kind: str) -> None:
    document = {"id": "cat", "text": TEXT}
    body: object = {"documents": [document]} if kind == "application/json" else document
    await searching.client.put("/corpora/notes", json={})
    sent = await searching.client.post(
        "/corpora/notes/documents", content=json.dumps(body), headers={"content-type": kind}
    )
    assert sent.status_code == 200, sent.text
    assert await _score(searching, "notes") == pytest.approx(expected, abs=1e-5)


async def test_a_corpus_that_is_encoded_anew(searching: Running, expected: float) -> None:
    await searching.client.put("/corpora/notes", json={"model": "tiny"})
    body = {"documents": [{"id": "cat", "text": TEXT}]}
    await searching.client.post("/corpora/notes/documents", json=body)
    over = await searching.client.post(
        "/corpora/notes/reencode", params={"wait": "true"}, json={"model": "searching"}
    )
    assert over.json()["state"] == "succeeded"
    assert await _score(searching, "notes") == pytest.approx(expected, abs=1e-5)


async def test_reranking(searching: Running, expected: float) -> None:
    (place,) = (
        await searching.client.post("/rerank", json={"query": ASKED, "texts": [TEXT]})
    ).json()
    assert place["score"] == pytest.approx(expected, abs=1e-5)


async def test_the_demo_corpus(
    searching_bundle: Path, tmp_path: Path, tiny_encoder: Encoder
) -> None:
    settings = tiny_settings(searching_bundle, tmp_path, demo_corpus=True)
    async with run_app(settings) as running:
        demo = running.state.resources.corpora.get("demo")
        documents = demo.page(limit=3).documents
        stored = demo.vectors_of([document.id for document in documents])
    expected = tiny_encoder.encode([f"text: {document.text}" for document in documents])
    np.testing.assert_allclose(stored, expected, atol=1e-5)
