"""Vectors for work that goes on in the background: it waits where a request would be refused."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from service.errors import OverloadedError
from service.inference.encoder import Encoder
from service.inference.engine import Embedded, EmbedOptions, Engine

LONGEST_PAUSE_SECONDS = 1.0


def embed_patiently(
    engine: Engine,
    encoder: Encoder,
    texts: Sequence[str],
    options: EmbedOptions | None = None,
    *,
    check: Callable[[], None] = lambda: None,
) -> Embedded:
    """Return the vectors of `texts`, however full the queue is; blocks, so not for handlers.

    Args:
        engine: Shared with the requests, which are served in between.
        encoder: The model.
        texts: Few enough that they fit the queue: some hundreds.
        options: How; the bundle's defaults where None.
        check: Called before each try; what it raises ends the wait (`Job.check`).

    Raises:
        InterlinguaError: What `Engine.embed` raises, except that the queue is full.
    """

    async def embed() -> Embedded:
        while True:
            check()
            try:
                return await engine.embed(encoder, texts, options)
            except OverloadedError as error:
                await asyncio.sleep(min(error.retry_after_seconds, LONGEST_PAUSE_SECONDS))

    return asyncio.run(embed())
