"""A student: an encoder that is trained to lie where a teacher puts the English."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor, nn

from training.data.batches import Sentences
from training.data.scored_batches import ScoredBatch
from training.data.taught_batches import TaughtBatch
from training.encoders.settled import SettledLayers
from training.objectives.correlation import correlation
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
        scores: People's scores of pairs, where a batch has any.
    """

    distillation: float
    ranking: float
    nested: float
    widths: tuple[int, ...]
    temperature: float
    scores: float = 0.0


class Student(nn.Module):
    """An encoder and the terms.

    Args:
        encoder: Sentences to vectors [B, D] of length 1.
        weights: Of the terms.
    """

    def __init__(self, encoder: SettledLayers, weights: StudentWeights) -> None:
        super().__init__()
        self.encoder = encoder
        self._weights = weights

    def forward(self, batch: TaughtBatch) -> Losses:
        """Return the weighted losses of `batch`."""
        weights = self._weights
        vectors = self._vectors(batch.sentences)
        losses = {
            "distillation": weights.distillation * distance_to_teacher(vectors, batch.targets),
            "ranking": weights.ranking * self._ranking(vectors, batch),
        }
        if weights.nested and weights.widths:
            width = weights.widths[batch.number % len(weights.widths)]
            losses["nested"] = weights.nested * self._ranking(vectors, batch, width=width)
        if weights.scores and batch.scored is not None:
            losses["scores"] = weights.scores * self._disagreement(batch.scored)
        return losses

    def _vectors(self, sentences: Sentences) -> Tensor:
        """Return vectors [B, D] of all `sentences`, of which each process encodes a part."""
        size = len(sentences)
        return gather_rows(self.encoder(sentences.part(part(size))), size)

    def _disagreement(self, scored: ScoredBatch) -> Tensor:
        """Return 1 less the correlation of the pairs' cosines with their scores."""
        first, second = self._vectors(scored.sentences).chunk(2)
        return 1 - correlation((first * second).sum(1), scored.scores)

    def _ranking(self, vectors: Tensor, batch: TaughtBatch, *, width: int | None = None) -> Tensor:
        """Return the ranking loss by the first `width` dimensions; by all where None."""
        return teacher_ranking(
            vectors[:, :width],
            batch.targets[:, :width],
            batch.negatives[:, :width],
            temperature=self._weights.temperature,
        )
