"""A head of labels that a request describes in words, made within the request's own time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from service.api.limits import check_count
from service.api.schemas.splitting import MAX_PIECES
from service.api.work import Work
from service.classification.described import background_texts, describe_labels, label_texts
from service.classification.head import Head
from service.classification.making import head_of_words, known_background, remember_background
from service.inference.encoder import Encoder
from service.inference.request import EmbedOptions
from service.inference.session import Vectors

_OPTIONS = EmbedOptions(normalize=True)


async def head_of_labels(descriptions: Mapping[str, str], encoder: Encoder, work: Work) -> Head:
    """Return a head of labels that are only described; it is not written anywhere.

    Args:
        descriptions: Label -> words for it; its name alone where they are empty.
        encoder: In whose space it lives.
        work: The request's.

    Raises:
        TooLargeError: More words between commas than are allowed.
        InterlinguaError: What `Work.embed` raises.
    """
    texts = await work.compute(label_texts, descriptions)
    check_count(
        texts, MAX_PIECES, field="labels", remedy="Send fewer labels, or with fewer commas."
    )
    background = known_background(encoder)
    if background is None:  # measured twice where two requests come at once, to the same end
        vectors = await _vectors(background_texts(), encoder, work)
        background = await work.compute(remember_background, encoder, vectors)
    vectors = await _vectors(texts, encoder, work)
    linear = await work.compute(describe_labels, descriptions, vectors, background)
    return head_of_words(descriptions, encoder, linear)


async def _vectors(texts: Sequence[str], encoder: Encoder, work: Work) -> Vectors:
    parts = [
        (
            await work.embed(
                encoder, texts[begin : begin + work.max_inputs], _OPTIONS,
                field="labels", told=False,
            )
        ).vectors
        for begin in range(0, len(texts), work.max_inputs)
    ]  # fmt: skip
    return np.concatenate(parts)
