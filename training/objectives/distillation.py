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


@dataclass(frozen=True, slots=True)
class Distillation:
    """Mean over the taught pairs of (1 - cos(source, teacher)) + (1 - cos(target, teacher))."""

    def __call__(self, source: Tensor, target: Tensor, batch: PairBatch) -> Tensor:
        """Return the loss of `source` and `target`, both [B, D]; 0 where no pair is taught."""
        if not len(batch.taught):
            return source.sum() * 0.0
        teacher = functional.normalize(batch.teacher, dim=1)  # [taught, D]
        from_source = functional.cosine_similarity(source[batch.taught], teacher, dim=1)
        from_target = functional.cosine_similarity(target[batch.taught], teacher, dim=1)
        return (2 - from_source - from_target).mean()
