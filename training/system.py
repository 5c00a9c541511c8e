"""Systems: the parts of a recipe put together into what the loop trains.

A system is a module whose forward takes a batch and returns its weighted losses by name; the loop
knows no more of it. `DualEncoder` is the one for encoders that are trained on pairs of sentence
vectors; sequence-to-sequence systems add decoders in files of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from torch import Tensor, nn

from training.data.batches import PairBatch, Sentences
from training.objectives.pairs import PairObjective
from training.parallel import gather_rows, part

Losses = dict[str, Tensor]
"""Weighted terms of the loss by name; their sum is what is made small."""


@dataclass(frozen=True, slots=True)
class Weighted:
    """An objective and its weight in the sum."""

    objective: PairObjective
    weight: float = 1.0


class DualEncoder(nn.Module):
    """One encoder for both sides of a pair, and objectives over the two vectors.

    Args:
        encoder: Sentences to vectors [B, D].
        objectives: By name; those of weight 0 are left out.
    """

    def __init__(self, encoder: nn.Module, objectives: Mapping[str, Weighted]) -> None:
        super().__init__()
        self.encoder = encoder
        self._objectives = {name: part for name, part in objectives.items() if part.weight}

    def forward(self, batch: PairBatch) -> Losses:
        """Return the weighted losses of `batch`."""
        sentences = Sentences.join(batch.source, batch.target)
        vectors = gather_rows(self.encoder(sentences.part(part(len(sentences)))), len(sentences))
        source, target = vectors[: len(batch.source)], vectors[len(batch.source) :]
        return {
            name: part.weight * part.objective(source, target, batch)
            for name, part in self._objectives.items()
        }
