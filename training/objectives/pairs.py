"""The shape of an objective over sentence pairs."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor

from training.data.batches import PairBatch

PairObjective = Callable[[Tensor, Tensor, PairBatch], Tensor]
"""(sources [B, D], targets [B, D], batch) -> one number. Vectors come as the encoder gives them."""
