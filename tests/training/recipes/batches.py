"""That a text's vector does not depend on the texts it is encoded with."""

from __future__ import annotations

import numpy as np

from service.inference.encoder import Encoder

TEXTS = ("The doctor buys the house.", "Der Arzt kauft das Haus.", "house", "")


def assert_the_same_alone(
    encoder: Encoder, width: int, *, language: str | None = None, atol: float = 1e-6
) -> None:
    """See that texts of different lengths have the vectors [width] of their batch alone too."""
    together = encoder.encode(list(TEXTS), language=language, normalize=False)
    assert together.shape == (len(TEXTS), width)
    for text, vector in zip(TEXTS, together, strict=True):
        alone = encoder.encode(text, language=language, normalize=False)
        np.testing.assert_allclose(alone, vector, atol=atol)
