from __future__ import annotations

import asyncio

import numpy as np
import pytest

from service.api.schemas.projection import MAX_MATRIX, MAX_POINTS
from service.inference.encoder import Encoder
from tests.service.api.running import DOCUMENTS, Running, assert_problem

TEXTS = [str(document["text"]) for document in DOCUMENTS]


async def test_cosines_are_the_encoders_and_points_fill_the_plane(
    running: Running, tiny_encoder: Encoder
) -> None:
    answer = (await running.client.post("/projection", json={"inputs": TEXTS})).json()
    vectors = tiny_encoder.encode(TEXTS)
    np.testing.assert_allclose(answer["cosines"], vectors @ vectors.T, atol=1e-4)
    assert answer["method"] == "pca"
    assert 0 < answer["explained"] <= 1
    points = np.asarray(answer["points"])
    assert points.shape == (len(TEXTS), 2)
    assert np.abs(points).max() == pytest.approx(1)
    assert len(answer["languages"]) == len(TEXTS)


async def test_many_texts_are_laid_out_by_neighbours(running: Running) -> None:
    texts = [f"{text} {number}" for number in range(MAX_MATRIX // 4) for text in TEXTS]
    answer = (await running.client.post("/projection", json={"inputs": texts})).json()
    assert answer["method"] == "tsne"
    assert answer["explained"] is None
    assert answer["cosines"] is None, "a matrix that nobody can look at is not sent"


async def test_a_named_language_is_not_guessed(running: Running) -> None:
    body = {"inputs": ["123", "cat"], "language": "en"}
    answer = (await running.client.post("/projection", json=body)).json()
    assert answer["languages"] == ["en", "en"]
    answer = (await running.client.post("/projection", json={"inputs": ["123"]})).json()
    assert answer["languages"] == [None]
    assert answer["points"] == [[0.0, 0.0]]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"inputs": []}, "inputs"),
        ({"inputs": ["a", "b"], "method": "tsne"}, "inputs"),
        ({"inputs": TEXTS, "method": "umap"}, "method"),
        ({"inputs": TEXTS, "method": "tsne", "perplexity": 30}, "perplexity"),
        ({"inputs": ["a"] * (MAX_POINTS + 1)}, "inputs"),
    ],
)
async def test_what_cannot_be_laid_out_is_refused(
    running: Running, body: dict[str, object], field: str
) -> None:
    response = await running.client.post("/projection", json=body)
    assert response.status_code in (400, 413, 422)
    assert_problem(response, response.status_code)
    assert response.json()["field"] == field


async def test_probes_answer_while_it_computes(running: Running) -> None:
    texts = [f"{text} {number}" for number in range(60) for text in TEXTS]
    work = asyncio.create_task(running.client.post("/projection", json={"inputs": texts}))
    answered = 0
    while not work.done():
        assert (await running.client.get("/health/live")).status_code == 200
        answered += 1
        await asyncio.sleep(0.01)
    assert (await work).status_code == 200
    assert answered > 5
