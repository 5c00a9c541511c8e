from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from service.api import input_vectors
from service.errors import DeadlineError
from tests.service.api.running import Running, assert_problem

TEXT = "The cat sleeps on the warm windowsill. Fresh bread smells best."
WINDOWS = {"inputs": TEXT, "document": True, "splitting": "windows"}


async def test_windows_of_the_papers_overlap_are_taken(running: Running) -> None:
    for words, stride in ((128, 64), (128, 8), (8192, 8192), (1, 1)):
        body = WINDOWS | {"window_words": words, "stride_words": stride}
        response = await running.client.post("/embed", json=body)
        assert response.status_code == 200, response.text


@pytest.mark.parametrize("words", [1, 63, 64, 1024, 1025, 8192])
async def test_every_window_has_a_stride_where_none_is_sent(running: Running, words: int) -> None:
    response = await running.client.post("/embed", json=WINDOWS | {"window_words": words})
    assert response.status_code == 200, response.text


@pytest.mark.parametrize("path", ["/embed", "/similar", "/classify"])
@pytest.mark.parametrize(
    ("words", "stride", "field"),
    [(129, 8, "stride_words"), (750, 1, "stride_words"), (8193, 8193, "window_words")],
)
async def test_windows_that_multiply_a_text_are_refused(
    running: Running, path: str, words: int, stride: int, field: str
) -> None:
    body = WINDOWS | {"window_words": words, "stride_words": stride}
    assert_problem(await running.client.post(path, json=body), 422, field=field)


async def test_a_window_that_nobody_uses_is_not_refused(running: Running) -> None:
    for unused in ({"document": False}, {"splitting": "sentences"}):
        body = WINDOWS | {"window_words": 750, "stride_words": 1} | unused
        assert (await running.client.post("/embed", json=body)).status_code == 200


async def test_too_many_pieces_are_refused(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(input_vectors, "MAX_PIECES", 4)
    body = {"inputs": [TEXT, TEXT], "document": True}
    assert (await running.client.post("/embed", json=body)).status_code == 200
    body = {"inputs": [TEXT, TEXT, "cat"], "document": True}
    assert_problem(await running.client.post("/embed", json=body), 413, field="inputs")


async def test_splitting_ends_with_the_requests_time(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = threading.Event()

    def endless(*_: object, check: Callable[[], None], **__: object) -> None:
        until = time.monotonic() + 10
        try:
            while time.monotonic() < until:
                check()
                time.sleep(0.005)
        except DeadlineError:
            ended.set()
            raise

    monkeypatch.setattr(input_vectors, "split_documents", endless)
    began = time.perf_counter()
    response = await running.client.post(
        "/embed", json={"inputs": TEXT, "document": True}, headers={"x-request-timeout": "0.1"}
    )
    assert time.perf_counter() - began < 5
    assert_problem(response, 504)
    assert ended.wait(5), "the thread works on for nobody"
