"""Labelled examples kept beside a head, to explain its answers with: the nearest of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import orjson
from safetensors import SafetensorError
from safetensors.numpy import load, save

from service.classification.logistic import Matrix
from service.errors import BundleError

MOST_REMEMBERED = 2000
_MOST_CHARACTERS = 300


@dataclass(frozen=True, slots=True)
class Remembered:
    """A labelled example and how near it is."""

    text: str
    labels: tuple[str, ...]
    language: str | None
    score: float = 0.0
    text_pair: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class RememberedExamples:
    """Some of the examples that a head was fitted on.

    Attributes:
        examples: What they say.
        vectors: float16 [examples, width], of length 1 (of a pair, both, one after the other).
    """

    examples: Sequence[Remembered]
    vectors: npt.NDArray[np.float16]

    def nearest(self, vector: Matrix, count: int) -> list[Remembered]:
        """Return the `count` examples nearest to a unit vector [width], best first."""
        scores = self.vectors.astype(np.float32) @ vector
        best = np.argsort(-scores, kind="stable")[:count]
        return [
            Remembered(one.text, one.labels, one.language, round(float(scores[row]), 6),
                       one.text_pair)
            for row in best.tolist()
            for one in (self.examples[row],)
        ]  # fmt: skip

    def to_bytes(self) -> bytes:
        """Return a safetensors file: the vectors, and the rest as JSON in bytes."""
        rows = [
            [one.text[:_MOST_CHARACTERS], one.labels, one.language,
             one.text_pair[:_MOST_CHARACTERS] if one.text_pair else None]
            for one in self.examples
        ]  # fmt: skip
        words = np.frombuffer(orjson.dumps(rows), dtype=np.uint8)
        return save({"vectors": np.ascontiguousarray(self.vectors), "examples": words})


def read_remembered(path: Path) -> RememberedExamples:
    """Read what `to_bytes` gave.

    Raises:
        BundleError: It is something else.
    """
    try:
        tensors = load(path.read_bytes())
        examples = [
            Remembered(str(text), tuple(map(str, labels)), language, 0.0, pair)
            for text, labels, language, pair in orjson.loads(tensors["examples"].tobytes())
        ]
        vectors = tensors["vectors"]
    except (OSError, SafetensorError, KeyError, TypeError, ValueError) as error:
        raise BundleError(f"{path} holds no examples: {error}.") from error
    if vectors.dtype != np.float16 or vectors.ndim != 2 or len(vectors) != len(examples):
        raise BundleError(f"{path}: vectors are {vectors.dtype} {vectors.shape}.")
    return RememberedExamples(examples, vectors)
