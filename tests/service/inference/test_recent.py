from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import cast

import numpy as np
import pytest

from service.inference.encoder import Encoder, Tower
from service.inference.recent import RecentVectors
from service.inference.session import Session, Vectors
from service.text.tokenizer import Tokens


@pytest.fixture(scope="module")
def tower(tiny_encoder: Encoder) -> Tower:
    return tiny_encoder.towers["*"]


class Model:
    """Makes [length, first id] of a text, and counts."""

    def __init__(self) -> None:
        self.seen: list[list[int]] = []

    def __call__(self, tokens: Sequence[Tokens]) -> Vectors:
        self.seen += [list(one) for one in tokens]
        return np.array([[len(one), one[0]] for one in tokens], dtype=np.float32)


def test_equal_texts_of_a_batch_are_computed_once(tower: Tower) -> None:
    model, recent = Model(), RecentVectors()
    vectors = recent.compute(tower, [[1, 2], [3], [1, 2], [1, 2]], model)
    assert vectors.tolist() == [[2, 1], [1, 3], [2, 1], [2, 1]]
    assert model.seen == [[1, 2], [3]]
    assert recent.shared == 2
    recent.compute(tower, [[3]], model)
    assert model.seen[-1] == [3], "without room nothing is kept"


def test_what_is_kept_is_found_exactly(tower: Tower, tiny_encoder: Encoder) -> None:
    model, recent = Model(), RecentVectors(10_000)
    recent.compute(tower, [[1, 2], [3]], model)
    found = recent.find(tower, [[3], [9], [1, 2]])
    assert {place: vector.tolist() for place, vector in found.items()} == {0: [1, 3], 2: [2, 1]}
    assert (recent.hits, recent.misses) == (2, 1)
    other = Tower(tower.tokenizer, tower.session)
    assert recent.find(other, [[3]]) == {}, "another model"
    assert all(vector.base is None for vector in found.values()), "it would keep its whole batch"


def test_what_another_precision_made_is_not_given(tower: Tower) -> None:
    @dataclass
    class FailedOver:
        precision: str

    session = FailedOver("bf16")
    recent, moved = RecentVectors(10_000), Tower(tower.tokenizer, cast(Session, session))
    recent.compute(moved, [[1, 2]], Model())
    assert recent.find(moved, [[1, 2]])
    session.precision = "fp32"
    assert recent.find(moved, [[1, 2]]) == {}


def test_the_oldest_go_when_the_room_is_full(tower: Tower) -> None:
    recent = RecentVectors(1000)
    for number in range(1, 20):
        recent.compute(tower, [[number]], Model())
        recent.find(tower, [[1]])  # it stays young
        assert recent.bytes <= 1000
    assert set(recent.find(tower, [[1], [2], [19]])) == {0, 2}


def test_a_text_that_another_thread_computes_is_waited_for(tower: Tower) -> None:
    recent, model = RecentVectors(), Model()
    begun, go = threading.Event(), threading.Event()

    def slow(tokens: Sequence[Tokens]) -> Vectors:
        begun.set()
        go.wait(10)
        return model(tokens)

    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(recent.compute, tower, [[5]], slow)
        begun.wait(10)
        second = threads.submit(recent.compute, tower, [[7], [5]], model)
        while [7] not in model.seen:
            pass
        go.set()
        assert first.result(10).tolist() == [[1, 5]]
        assert second.result(10).tolist() == [[1, 7], [1, 5]]
    assert model.seen == [[7], [5]]


def test_a_failure_elsewhere_is_not_inherited(tower: Tower) -> None:
    recent, model = RecentVectors(), Model()
    begun, go = threading.Event(), threading.Event()

    def failing(tokens: Sequence[Tokens]) -> Vectors:
        begun.set()
        go.wait(10)
        raise ValueError("its own")

    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(recent.compute, tower, [[5]], failing)
        begun.wait(10)
        second = threads.submit(recent.compute, tower, [[5]], model)
        go.set()
        assert second.result(10).tolist() == [[1, 5]]
        with pytest.raises(ValueError, match="its own"):
            first.result(10)
    assert recent.compute(tower, [[5]], model).tolist() == [[1, 5]], "nothing is left behind"
