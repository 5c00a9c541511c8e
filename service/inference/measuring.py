"""How fast an engine is with given settings on this machine."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle

import numpy as np

from service.inference.encoder import Encoder
from service.inference.engine import Engine

_BULK_TEXTS = 64
_BULK_CLIENTS = 4


@dataclass(frozen=True, slots=True)
class Speed:
    """What an engine did.

    Attributes:
        runs_on: Runtime and precision.
        workers: Its threads.
        batch_tokens: Padded tokens of one batch.
        texts_per_second: With bulk requests alone.
        single_ms: Median and 95th percentile of one-text requests while the bulk runs.
        alone_ms: Median of one-text requests with nothing else to do.
    """

    runs_on: str
    workers: int
    batch_tokens: int
    texts_per_second: float
    single_ms: tuple[float, float]
    alone_ms: float


def measure(
    encoder: Encoder, texts: Sequence[str], *, workers: int, batch_tokens: int, seconds: float
) -> Speed:
    """Measure one combination, for `seconds` each of bulk, mixed and lone requests."""
    engine = Engine(workers=workers, batch_tokens=batch_tokens, queue_tokens=1 << 22)
    try:
        return asyncio.run(_measure(engine, encoder, texts, batch_tokens, seconds))
    finally:
        engine.close()


async def _measure(
    engine: Engine, encoder: Encoder, texts: Sequence[str], batch_tokens: int, seconds: float
) -> Speed:
    await _bulk(engine, encoder, texts, until=time.perf_counter() + seconds / 4)  # warms up
    began = time.perf_counter()
    done = await _bulk(engine, encoder, texts, until=began + seconds)
    rate = done / (time.perf_counter() - began)
    until = time.perf_counter() + seconds
    _, mixed = await asyncio.gather(
        _bulk(engine, encoder, texts, until=until), _singles(engine, encoder, texts, until=until)
    )
    alone = await _singles(engine, encoder, texts, until=time.perf_counter() + seconds)
    median, high = np.percentile(mixed, [50, 95])
    return Speed(
        runs_on=encoder.execution.name,
        workers=engine.workers,
        batch_tokens=batch_tokens,
        texts_per_second=rate,
        single_ms=(float(median), float(high)),
        alone_ms=float(np.median(alone)),
    )


async def _bulk(engine: Engine, encoder: Encoder, texts: Sequence[str], *, until: float) -> int:
    async def client(start: int) -> int:
        done = 0
        while done == 0 or time.perf_counter() < until:
            first = (start + done) % max(1, len(texts) - _BULK_TEXTS)
            chunk = texts[first : first + _BULK_TEXTS]
            await engine.embed(encoder, chunk)
            done += len(chunk)
        return done

    return sum(await asyncio.gather(*(client(n * 97) for n in range(_BULK_CLIENTS))))


async def _singles(
    engine: Engine, encoder: Encoder, texts: Sequence[str], *, until: float
) -> list[float]:
    times: list[float] = []
    for text in cycle(texts):
        began = time.perf_counter()
        if times and began >= until:
            break
        await engine.embed(encoder, [text])
        times.append(1000 * (time.perf_counter() - began))
    return times
