from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest

from service.inference.encoder import Encoder
from service.inference.engine import Engine
from service.inference.patient import TEXTS_AT_ONCE, embed_all, embed_patiently
from service.inference.request import EmbedOptions
from tests.tiny_bundle import SENTENCES


@pytest.fixture
def engine() -> Iterator[Engine]:
    engine = Engine(workers=1, batch_tokens=128, queue_tokens=512)
    yield engine
    engine.close()


def test_any_number_of_texts_has_the_vectors_of_the_encoder(
    engine: Engine, tiny_encoder: Encoder
) -> None:
    texts = [f"{text} {n}" for n in range(TEXTS_AT_ONCE // 4) for text in SENTENCES]
    assert len(texts) > TEXTS_AT_ONCE
    options = EmbedOptions(normalize=True)
    found = embed_all(engine, tiny_encoder, texts, options)
    np.testing.assert_allclose(found, tiny_encoder.encode(texts, normalize=True), atol=1e-6)
    assert embed_all(engine, tiny_encoder, [], options).shape == (0, tiny_encoder.dimension)


def test_it_waits_where_the_queue_is_full(engine: Engine, tiny_encoder: Encoder) -> None:
    full = engine.queue.admitted(512)
    full.__enter__()
    timer = threading.Timer(0.2, full.__exit__, (None, None, None))
    timer.start()
    began = time.monotonic()
    assert len(embed_patiently(engine, tiny_encoder, ["The cat sleeps."]).vectors) == 1
    assert time.monotonic() - began >= 0.2
    timer.join()


class StoppedError(Exception):
    """Raised by a check."""


def test_a_check_ends_the_wait(engine: Engine, tiny_encoder: Encoder) -> None:
    calls = []

    def check() -> None:
        calls.append(1)
        if len(calls) == 2:
            raise StoppedError

    with pytest.raises(StoppedError):
        embed_all(engine, tiny_encoder, ["a"] * (2 * TEXTS_AT_ONCE), check=check)
    assert len(calls) == 2
