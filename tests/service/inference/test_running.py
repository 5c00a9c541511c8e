"""A request that is started without being waited for; `Engine.embed` builds on the same."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import numpy as np
import pytest

from service.errors import BackendError, InputError, OverloadedError, UnavailableError
from service.inference.encoder import Encoder
from service.inference.engine import Engine
from service.inference.request import EmbedOptions
from service.inference.running import Running


@pytest.fixture
def engine() -> Iterator[Engine]:
    made = Engine(workers=1, batch_tokens=64, queue_tokens=1000)
    yield made
    made.close()


async def started(
    engine: Engine, encoder: Encoder, texts: list[str], **options: object
) -> tuple[Running, asyncio.Event]:
    over = asyncio.Event()
    running = engine.start(
        encoder, texts, EmbedOptions(**options), when_over=over.set  # type: ignore[arg-type]
    )  # fmt: skip
    assert running is not None
    return running, over


async def test_it_gives_what_embed_gives(engine: Engine, tiny_encoder: Encoder) -> None:
    texts = ["one", "two words", ""]
    running, over = await started(engine, tiny_encoder, texts, dimensions=4)
    async with asyncio.timeout(5):
        await over.wait()
    expected = await engine.embed(tiny_encoder, texts, EmbedOptions(dimensions=4))
    found = running.embedded()
    np.testing.assert_allclose(found.vectors, expected.vectors, atol=1e-6)
    assert found.tokens == expected.tokens
    assert found.languages == expected.languages


async def test_too_much_is_not_started(engine: Engine, tiny_encoder: Encoder) -> None:
    over = asyncio.Event()
    assert engine.start(tiny_encoder, ["a"] * 70, EmbedOptions(), when_over=over.set) is None
    assert engine.queue.depth == 0


async def test_what_is_cancelled_is_never_over(
    engine: Engine, tiny_encoder: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    running, over = await started(engine, tiny_encoder, ["one"])
    running.cancel()
    await engine.embed(tiny_encoder, ["two"])
    await asyncio.sleep(0.05)
    assert not over.is_set()


async def test_a_text_that_failed_is_told_when_it_is_asked_for(
    engine: Engine, tiny_encoder: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: object) -> None:
        raise BackendError("It is broken.")

    monkeypatch.setattr(tiny_encoder.towers["*"].session, "run", fail)
    running, over = await started(engine, tiny_encoder, ["one"])
    async with asyncio.timeout(5):
        await over.wait()
    with pytest.raises(BackendError):
        running.embedded()


async def test_nothing_is_queued_of_what_is_refused(engine: Engine, tiny_encoder: Encoder) -> None:
    def start(**options: object) -> None:
        chosen = EmbedOptions(**options)  # type: ignore[arg-type]
        engine.start(tiny_encoder, ["one"], chosen, when_over=lambda: None)

    with pytest.raises(InputError):
        start(dimensions=10_000)
    with pytest.raises(InputError):
        start(prompt="none")
    with engine.queue.admitted(999), pytest.raises(OverloadedError):
        start()
    assert engine.queue.depth == 0
    engine.queue.close()
    with pytest.raises(UnavailableError):
        start()
