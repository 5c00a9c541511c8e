"""Vectors for work that goes on in the background: requests go first, and it waits where one would
be refused.
"""  # noqa: D205

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import numpy as np

from service.errors import OverloadedError
from service.inference.encoder import DOCUMENT_PROMPTS, Encoder
from service.inference.engine import Engine
from service.inference.fairness import BACKGROUND
from service.inference.request import Embedded, EmbedOptions
from service.inference.session import Vectors

LONGEST_PAUSE_SECONDS = 1.0
TEXTS_AT_ONCE = 256
"""Few enough that a request waits for little, and that they fit the queue."""
_BACKGROUND = EmbedOptions(client=BACKGROUND)


def background_documents(encoder: Encoder) -> EmbedOptions:
    """Return how the documents of a corpus are embedded while requests go first."""
    return EmbedOptions(client=BACKGROUND, prompt=encoder.prompt_among(DOCUMENT_PROMPTS))


def embed_patiently(
    engine: Engine,
    encoder: Encoder,
    texts: Sequence[str],
    options: EmbedOptions = _BACKGROUND,
    *,
    check: Callable[[], None] = lambda: None,
) -> Embedded:
    """Return the vectors of `texts`, however full the queue is; blocks, so not for handlers.

    Args:
        engine: Shared with the requests, which are served first.
        encoder: The model.
        texts: Few enough that they fit the queue: some hundreds.
        options: How; the bundle's defaults, in the background, where left out.
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


def embed_all(
    engine: Engine,
    encoder: Encoder,
    texts: Sequence[str],
    options: EmbedOptions = _BACKGROUND,
    *,
    check: Callable[[], None] = lambda: None,
) -> Vectors:
    """Return the vectors of any number of `texts`, float32 [texts, dimension]; blocks.

    Args:
        engine: Shared with the requests.
        encoder: The model.
        texts: Any number; a few at a time wait in the queue.
        options: How; the bundle's defaults, in the background, where left out.
        check: Called before every few of them; what it raises ends the work.
    """
    parts = [np.empty((0, options.dimensions or encoder.dimension), dtype=np.float32)]
    for start in range(0, len(texts), TEXTS_AT_ONCE):
        part = texts[start : start + TEXTS_AT_ONCE]
        parts.append(embed_patiently(engine, encoder, part, options, check=check).vectors)
    return np.concatenate(parts)
