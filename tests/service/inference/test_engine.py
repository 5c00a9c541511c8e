from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.errors import BackendError, InputError, OverloadedError
from service.inference.encoder import Encoder, Tower
from service.inference.engine import Engine
from service.inference.failed_batch import halves
from service.inference.onnx_session import EncoderSession
from service.inference.request import EmbedOptions
from service.inference.session import Session, Vectors
from service.inference.work import Job, Slice
from service.text.tokenizer import Inputs
from tests.tiny_bundle import MAX_TOKENS, SENTENCES


class Batches:
    """Remembers what the engine computed."""

    def __init__(self) -> None:
        self.texts = 0
        self.padded = 0
        self.tokens = 0
        self.failed = 0
        self.seconds = 0.0

    def observe_failed_batch(self) -> None:
        self.failed += 1

    def observe_batch(self, *, texts: int, tokens: int, padded_tokens: int, seconds: float) -> None:
        assert seconds >= 0
        self.seconds += seconds
        self.texts += texts
        self.tokens += tokens
        self.padded += padded_tokens


@pytest.fixture
def batches() -> Batches:
    return Batches()


@pytest.fixture
def engine(batches: Batches) -> Iterator[Engine]:
    engine = Engine(workers=2, batch_tokens=128, queue_tokens=4096, observer=batches)
    yield engine
    engine.close()


class FaultySession(EncoderSession):
    """A real session that throws for one token, and waits before it answers."""

    def __init__(self, session: Session, *, poison: int = -1, seconds: float = 0.0) -> None:
        self._real = session
        self._poison = poison
        self._seconds = seconds

    def run(self, inputs: Inputs) -> Vectors:
        time.sleep(self._seconds)
        if (inputs["ids"] == self._poison).any():
            raise BackendError("poisoned")
        return self._real.run(inputs)


@pytest.fixture
def faulty(tiny_encoder: Encoder, monkeypatch: pytest.MonkeyPatch) -> Encoder:
    """The tiny encoder, slow, and failing on texts with the first token of '猫'."""
    tower = tiny_encoder.towers["*"]
    poison = tower.tokenizer.encode(["猫"], max_tokens=8).tokens[0][-1]
    slow = Tower(tower.tokenizer, FaultySession(tower.session, poison=poison, seconds=0.05))
    monkeypatch.setattr(tiny_encoder, "towers", {"*": slow})
    return tiny_encoder


async def test_vectors_equal_those_without_a_queue(
    engine: Engine, tiny_encoder: Encoder, batches: Batches
) -> None:
    texts = [*SENTENCES, "", "cat " * 30] * 3
    result = await engine.embed(tiny_encoder, texts)
    np.testing.assert_allclose(result.vectors, tiny_encoder.encode(texts), atol=1e-6)
    engine.close()  # a batch is reported after its texts were answered
    assert batches.texts == len(texts)
    assert batches.tokens == sum(result.tokens)
    assert batches.padded >= batches.tokens


async def test_many_requests_at_once_each_get_their_own(
    engine: Engine, tiny_encoder: Encoder
) -> None:
    expected = tiny_encoder.encode(SENTENCES)
    results = await asyncio.gather(*(engine.embed(tiny_encoder, [text]) for text in SENTENCES * 5))
    for number, result in enumerate(results):
        np.testing.assert_allclose(result.vectors[0], expected[number % len(SENTENCES)], atol=1e-6)


async def test_what_requests_are_told_they_took_adds_up_to_what_was_computed(
    engine: Engine, faulty: Encoder, batches: Batches
) -> None:
    results = await asyncio.gather(*(engine.embed(faulty, ["cat"]) for _ in range(12)))
    engine.close()  # a batch is reported after its texts were answered
    assert sum(result.inference_seconds for result in results) == pytest.approx(batches.seconds)


async def test_no_texts_no_vectors(engine: Engine, tiny_encoder: Encoder) -> None:
    assert (await engine.embed(tiny_encoder, [])).vectors.shape == (0, 16)


async def test_truncation_is_told_or_refused(engine: Engine, tiny_encoder: Encoder) -> None:
    texts = ["short", "cat " * 200]
    result = await engine.embed(tiny_encoder, texts)
    assert result.truncated == [1]
    assert result.tokens[1] == MAX_TOKENS
    with pytest.raises(InputError, match=r"at most 64") as caught:
        await engine.embed(tiny_encoder, texts, EmbedOptions(truncate=False))
    assert caught.value.field == "inputs[1]"


async def test_prompt_is_put_before_each_text(engine: Engine, tiny_encoder: Encoder) -> None:
    result = await engine.embed(tiny_encoder, ["cat"], EmbedOptions(prompt="ask"))
    np.testing.assert_allclose(result.vectors[0], tiny_encoder.encode("question: cat"), atol=1e-6)
    with pytest.raises(InputError, match="ask"):
        await engine.embed(tiny_encoder, ["cat"], EmbedOptions(prompt="passage"))


@pytest.mark.parametrize("dimensions", [0, 17, -1])
async def test_impossible_dimensions_are_refused(
    engine: Engine, tiny_encoder: Encoder, dimensions: int
) -> None:
    with pytest.raises(InputError) as caught:
        await engine.embed(tiny_encoder, ["cat"], EmbedOptions(dimensions=dimensions))
    assert caught.value.field == "dimensions"


async def test_one_bad_text_does_not_fail_its_batch_mates(engine: Engine, faulty: Encoder) -> None:
    # While both workers are busy the three requests wait, so they come to share a batch.
    busy = [asyncio.create_task(engine.embed(faulty, ["bread " * 20])) for _ in range(2)]
    await asyncio.sleep(0.02)
    good, bad, fine = await asyncio.gather(
        *(engine.embed(faulty, [text]) for text in ("cat", "猫", "sea")), return_exceptions=True
    )
    await asyncio.gather(*busy)
    assert isinstance(bad, BackendError)
    assert not isinstance(good, BaseException)
    assert not isinstance(fine, BaseException)


async def test_overload_is_refused_at_once(faulty: Encoder) -> None:
    engine = Engine(workers=1, batch_tokens=16, queue_tokens=32)
    try:
        tasks = [asyncio.create_task(engine.embed(faulty, ["bread " * 3])) for _ in range(12)]
        results = await asyncio.gather(*tasks, return_exceptions=True)
    finally:
        engine.close()
    refused = [r for r in results if isinstance(r, OverloadedError)]
    answered = [r for r in results if not isinstance(r, BaseException)]
    assert refused
    assert answered
    assert len(refused) + len(answered) == 12


async def test_cancelled_request_leaves_the_queue(faulty: Encoder, batches: Batches) -> None:
    engine = Engine(workers=1, batch_tokens=16, queue_tokens=4096, observer=batches)
    first = asyncio.create_task(engine.embed(faulty, ["bread"]))
    await asyncio.sleep(0.02)
    # More than what is little, which would not have waited.
    second = asyncio.create_task(engine.embed(faulty, ["never wanted " * 40] * 4))
    await asyncio.sleep(0.01)
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    await first
    engine.close()
    assert batches.texts == 1


async def test_close_finishes_what_was_taken(tiny_encoder: Encoder) -> None:
    engine = Engine(workers=1, batch_tokens=16, queue_tokens=4096)
    tasks = [asyncio.create_task(engine.embed(tiny_encoder, [text])) for text in SENTENCES]
    await asyncio.sleep(0.02)
    await asyncio.to_thread(engine.close)
    results = await asyncio.gather(*tasks)
    assert len(results) == len(SENTENCES)


async def test_memory_for_two_texts_is_enough(
    batches: Batches, tiny_encoder: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = tiny_encoder.towers["*"].session
    real = session.run
    sizes: list[int] = []

    def little_memory(inputs: Inputs) -> Vectors:
        sizes.append(len(inputs["ids"]))
        if sizes[-1] > 2:
            raise MemoryError
        return real(inputs)

    texts = ["cat", "bread", "sea", "river", "stone"]
    expected = tiny_encoder.encode(texts)
    monkeypatch.setattr(session, "run", little_memory)
    engine = Engine(workers=1, batch_tokens=128, queue_tokens=4096, observer=batches)
    try:
        result = await engine.embed(tiny_encoder, texts)
    finally:
        engine.close()
    np.testing.assert_allclose(result.vectors, expected, atol=1e-6)
    assert batches.failed == len([size for size in sizes if size > 2]) > 0


async def test_a_bug_in_the_observer_costs_no_request_and_no_thread(tiny_encoder: Encoder) -> None:
    class Broken(Batches):
        def observe_batch(
            self, *, texts: int, tokens: int, padded_tokens: int, seconds: float
        ) -> None:
            raise ValueError(f"a bug: {texts} {tokens} {padded_tokens} {seconds}")

        def observe_failed_batch(self) -> None:
            raise ValueError("another")

    engine = Engine(workers=1, batch_tokens=128, queue_tokens=4096, observer=Broken())
    try:
        for _ in range(3):
            result = await engine.embed(tiny_encoder, ["cat"])
            assert len(result.vectors) == 1
    finally:
        engine.close()


@given(st.lists(st.integers(1, 5), min_size=1, max_size=6).filter(lambda sizes: sum(sizes) > 1))
def test_halves_hold_every_row_once(tiny_encoder: Encoder, sizes: list[int]) -> None:
    batch = []
    for size in sizes:
        job = Job(tiny_encoder.towers["*"], [[1]] * size, dimension=1, when_done=lambda _: None)
        batch.append(Slice(job, list(range(size))))
    parts = halves(batch)
    assert all(part for part in parts)
    rows = [(id(piece.job), row) for part in parts for piece in part for row in piece.rows]
    assert rows == [(id(piece.job), row) for piece in batch for row in piece.rows]
