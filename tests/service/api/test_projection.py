from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from service.api import projection
from service.api.schemas.projection import MAX_MATRIX, MAX_POINTS
from service.inference.encoder import Encoder
from service.inference.session import Vectors
from tests.service.api.running import DOCUMENTS, Running, assert_problem, post_and_leave

TEXTS = [str(document["text"]) for document in DOCUMENTS]
SOON = {"x-request-timeout": "0.3"}


class Endless:
    """In the place of t-SNE; asks whether to go on, or does not, until it is let go."""

    def __init__(self) -> None:
        self.began = threading.Event()
        self.let_go = threading.Event()
        self.asks = True

    def __call__(self, vectors: Vectors, *, check: Callable[[], None], **_: float) -> Vectors:
        self.began.set()
        while not self.let_go.wait(0.005):
            if self.asks:
                check()
        return vectors[:, :2]


@pytest.fixture
def endless(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endless]:
    slow = Endless()
    monkeypatch.setattr(projection, "project_by_neighbours", slow)
    yield slow
    slow.let_go.set()


async def until_free(turn: asyncio.Semaphore) -> None:
    async with asyncio.timeout(5):
        while turn.locked():
            await asyncio.sleep(0.005)


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


async def test_past_its_time_it_is_given_up_and_makes_room(
    running: Running, endless: Endless
) -> None:
    body = {"inputs": TEXTS, "method": "tsne"}
    began = time.perf_counter()
    answers = await asyncio.gather(
        *(running.client.post("/projection", json=body, headers=SOON) for _ in range(3))
    )
    assert time.perf_counter() - began < 3, "one that waits for its turn has its own time"
    for answer in answers:
        assert_problem(answer, 504)
    await until_free(running.state.one_projection)


async def test_the_next_waits_until_the_thread_has_ended(
    running: Running, endless: Endless
) -> None:
    endless.asks = False
    body = {"inputs": TEXTS, "method": "tsne"}
    assert_problem(await running.client.post("/projection", json=body, headers=SOON), 504)
    assert endless.began.is_set()
    turn = running.state.one_projection
    assert turn.locked(), "the core is still taken"
    endless.let_go.set()
    await until_free(turn)
    assert (await running.client.post("/projection", json=body)).status_code == 200


async def test_it_is_given_up_when_the_client_is_gone(running: Running, endless: Endless) -> None:
    leave = asyncio.Event()
    body = {"inputs": TEXTS, "method": "tsne"}
    posted = asyncio.create_task(post_and_leave(running, "/projection", body, leave=leave))
    await asyncio.to_thread(endless.began.wait, 10)
    leave.set()
    assert await asyncio.wait_for(posted, 5) == []
    await until_free(running.state.one_projection)
    assert not endless.let_go.is_set()
