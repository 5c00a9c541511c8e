"""Distillation: both sides of a pair shall lie where the teacher puts the English one.

Reimers & Gurevych 2020 (Making Monolingual Sentence Embeddings Multilingual using Knowledge
Distillation, eq. 1). Departure: the distance is 1 - cosine in place of the mean square, since only
directions are served.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor
from torch.nn import functional

from training.data.batches import PairBatch


def distance_to_teacher(vectors: Tensor, targets: Tensor) -> Tensor:
    """Return the mean of 1 - cosine of `vectors` and `targets`, both [B, D]."""
    return (1 - functional.cosine_similarity(vectors, targets, dim=1)).mean()


@dataclass(frozen=True, slots=True)
class Distillation:
    """Mean over the taught pairs of (1 - cos(source, teacher)) + (1 - cos(target, teacher))."""

    def __call__(self, source: Tensor, target: Tensor, batch: PairBatch) -> Tensor:
        """Return the loss of `source` and `target`, both [B, D]; 0 where no pair is taught."""
        if not len(batch.taught):
            return source.sum() * 0.0
        from_source, from_target = (
            distance_to_teacher(side[batch.taught], batch.teacher) for side in (source, target)
        )
        return from_source + from_target
