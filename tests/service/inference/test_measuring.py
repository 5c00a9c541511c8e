from __future__ import annotations

import threading

from service.inference.encoder import Encoder
from service.inference.measuring import measure


def test_a_combination_is_measured_and_its_threads_end(tiny_encoder: Encoder) -> None:
    before = threading.active_count()
    speed = measure(tiny_encoder, ["The cat sleeps."], workers=2, batch_tokens=64, seconds=0.05)
    assert (speed.workers, speed.batch_tokens) == (2, 64)
    assert speed.texts_per_second > 0
    assert 0 < speed.single_ms[0] <= speed.single_ms[1]
    assert speed.alone_ms > 0
    assert threading.active_count() <= before + 2, "the engine was closed"
