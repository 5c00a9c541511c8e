"""From token vectors to one vector, for graphs that leave this to whoever runs them.

Bundles made here pool inside the graph; what people bring from elsewhere mostly does not. The
formulas are those of sentence-transformers (Reimers & Gurevych 2019, section 3).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError
from safetensors.numpy import load_file

from service.bundle.manifest import Pooling
from service.errors import BundleError
from service.inference.vectors import normalise

Floats = npt.NDArray[np.float32]
Mask = npt.NDArray[np.int64]
"""int64 [batch, tokens], 1 where there is a token and 0 where there is a pad."""


def _mean(states: Floats, mask: Mask) -> Floats:
    kept = mask.astype(np.float32)
    # One product of [1, tokens] x [tokens, width] a text, and no masked copy of the states.
    total: Floats = np.matmul(kept[:, None], states)[:, 0]
    mean: Floats = total / np.maximum(kept.sum(axis=1, keepdims=True), np.float32(1))
    return mean


def _cls(states: Floats, mask: Mask) -> Floats:
    first: Floats = states[np.arange(len(states)), mask.argmax(axis=1)]
    return first


def _max(states: Floats, mask: Mask) -> Floats:
    greatest: Floats = np.where(mask[..., None] > 0, states, np.float32(-1e9)).max(axis=1)
    return greatest


def _last(states: Floats, mask: Mask) -> Floats:
    last = mask.shape[1] - 1 - mask[:, ::-1].argmax(axis=1)
    vectors: Floats = states[np.arange(len(states)), last]
    return vectors


_POOLINGS: dict[Pooling, Callable[[Floats, Mask], Floats]] = {
    "mean": _mean, "cls": _cls, "max": _max, "last": _last,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class DenseLayer:
    """activation(x weight^T + bias).

    Attributes:
        weight: float32 [out, in].
        bias: float32 [out], zeros where the layer has none.
        activation: identity or tanh.
        of_unit: Whether x is scaled to length 1 first.
    """

    weight: Floats
    bias: Floats
    activation: Literal["identity", "tanh"]
    of_unit: bool = False

    def __call__(self, vectors: Floats) -> Floats:
        """Return float32 [batch, out] for `vectors` [batch, in]."""
        if self.of_unit:
            vectors = normalise(vectors)
        result: Floats = vectors @ self.weight.T + self.bias
        return np.tanh(result) if self.activation == "tanh" else result


def read_dense_layer(
    path: Path, activation: Literal["identity", "tanh"], *, of_unit: bool = False
) -> DenseLayer:
    """Return the layer in a safetensors file; `linear.weight` is taken for `weight` too.

    Raises:
        BundleError: The file has no weight, or cannot be read.
    """
    try:
        arrays = {name.removeprefix("linear."): a for name, a in load_file(path).items()}
        weight = arrays["weight"].astype(np.float32)
    except (OSError, SafetensorError, KeyError, TypeError) as error:
        raise BundleError(f"{path} holds no dense layer: {error}.") from error
    bias = arrays.get("bias")
    zeros = np.zeros(len(weight), dtype=np.float32)
    shift = zeros if bias is None else bias.astype(np.float32)
    return DenseLayer(weight, shift, activation, of_unit)


class Pooler:
    """Token vectors to sentence vectors.

    Args:
        pooling: How many become one.
        layers: What follows, in order.
    """

    def __init__(self, pooling: Pooling, layers: Sequence[DenseLayer] = ()) -> None:
        self._pool = _POOLINGS[pooling]
        self._layers = tuple(layers)

    def __call__(self, states: Floats, mask: Mask) -> Floats:
        """Return float32 [batch, dimension].

        Args:
            states: float32 [batch, tokens, width].
            mask: int64 [batch, tokens]; a text without any token becomes a vector of zeros.
        """
        pooled = self._pool(states.astype(np.float32, copy=False), mask)
        pooled[mask.sum(axis=1) == 0] = 0
        for layer in self._layers:
            pooled = layer(pooled)
        return pooled
