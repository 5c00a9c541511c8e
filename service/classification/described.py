"""Labels described in words: a classifier without an example.

A label's vector is the mean of those of its name, its description, and the description's parts
between commas. A text's logit for a label is its cosine with that vector, less the mean over all
labels, less what a text about anything has (or a label that lies near everything would win), on a
scale on which probabilities mean something with any encoder.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import orjson

from service.classification.logistic import Linear, Matrix
from service.inference.vectors import normalise
from service.shipped import DEMO_CORPUS

SHARPNESS = 1.15
"""Logits are cosines times this over the standard deviation of the cosines of unrelated texts. It
is the geometric mean of what was best calibrated on three labelled training sets (topic, news and
sentiment: docs/classification.md)."""

_EVERY = 11
"""Every so manieth text of the demo corpus is background: 11 and its 12 languages share no factor,
so all languages are in it."""


@dataclass(frozen=True, slots=True)
class Background:
    """What texts about anything look like to an encoder.

    Attributes:
        mean: Of their unit vectors, float32 [D].
        spread: Standard deviation of the cosines of two of them.
    """

    mean: Matrix
    spread: float


@lru_cache(maxsize=1)
def background_texts() -> tuple[str, ...]:
    """Return texts about anything, from the demo corpus: of many kinds, in 12 languages."""
    lines = DEMO_CORPUS.read_bytes().splitlines()[::_EVERY]
    return tuple(orjson.loads(line)["text"] for line in lines)


def measure_background(vectors: Matrix) -> Background:
    """Return the background of the encoder that made `vectors` of `background_texts`."""
    vectors = normalise(vectors)
    cosines = (vectors @ vectors.T)[np.triu_indices(len(vectors), 1)]
    return Background(vectors.mean(axis=0), max(float(cosines.std()), 1e-6))


def label_texts(descriptions: Mapping[str, str]) -> list[str]:
    """Return the texts whose vectors `describe_labels` takes.

    Args:
        descriptions: Label -> words for it; its name alone where they are empty.
    """
    return [text for label, words in descriptions.items() for text in _parts(label, words)]


def describe_labels(
    descriptions: Mapping[str, str], vectors: Matrix, background: Background
) -> Linear:
    """Return the weights that descriptions of labels amount to.

    Args:
        descriptions: As `label_texts` takes them.
        vectors: Of these texts, by one encoder.
        background: Of the same encoder.
    """
    ends = np.cumsum([len(_parts(label, words)) for label, words in descriptions.items()])
    means = [part.mean(axis=0) for part in np.split(normalise(vectors), ends[:-1])]
    centres = normalise(np.stack(means).astype(np.float32))
    scale = np.float32(SHARPNESS / background.spread)
    weights = (centres - centres.mean(axis=0)) * scale
    return Linear(weights, -(weights @ background.mean))


def _parts(label: str, words: str) -> list[str]:
    parts = [part.strip() for part in words.split(",")]
    return list(dict.fromkeys(text for text in (label, words.strip(), *parts) if text))
