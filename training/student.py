"""A student: an encoder that is trained to lie where a teacher puts the English."""

from __future__ import annotations

from dataclasses import dataclass

from torch import nn
from torch.nn import functional

from training.data.taught_batches import TaughtBatch
from training.objectives.distillation import distance_to_teacher
from training.objectives.taught import teacher_ranking
from training.parallel import gather_rows, part
from training.system import Losses


@dataclass(frozen=True, slots=True, kw_only=True)
class StudentWeights:
    """How much each term counts.

    Attributes:
        distillation: Nearness to the teacher's vector.
        ranking: The teacher's vector before those of other sentences.
        nested: The same by the first dimensions alone (Kusupati et al. 2022, eq. 1), one of
            `widths` a batch, in turn.
        widths: To which vectors may be cut.
        temperature: Of both rankings.
    """

    distillation: float
    ranking: float
    nested: float
    widths: tuple[int, ...]
    temperature: float


class Student(nn.Module):
    """An encoder and the three terms.

    Args:
        encoder: Sentences to vectors [B, D].
        weights: Of the terms.
    """

    def __init__(self, encoder: nn.Module, weights: StudentWeights) -> None:
        super().__init__()
        self.encoder = encoder
        self._weights = weights

    def forward(self, batch: TaughtBatch) -> Losses:
        """Return the weighted losses of `batch`."""
        sentences, weights = batch.sentences, self._weights
        size = len(sentences)
        vectors = gather_rows(self.encoder(sentences.part(part(size))), size)
        losses = {
            "distillation": weights.distillation * distance_to_teacher(vectors, batch.targets),
            "ranking": weights.ranking
            * teacher_ranking(
                vectors, batch.targets, batch.negatives, temperature=weights.temperature
            ),
        }
        if weights.nested and weights.widths:
            width = weights.widths[batch.number % len(weights.widths)]
            losses["nested"] = weights.nested * teacher_ranking(
                functional.normalize(vectors, dim=1)[:, :width],
                batch.targets[:, :width],
                batch.negatives[:, :width],
                temperature=weights.temperature,
            )
        return losses
