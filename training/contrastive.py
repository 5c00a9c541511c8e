"""The system of Hermann & Blunsom 2013: an encoder a language, held together by noise-contrast."""

from __future__ import annotations

from collections.abc import Mapping

from torch import nn

from training.data.noise import NoiseBatch
from training.objectives.noise_contrastive import NoiseContrastive
from training.parallel import part, world
from training.system import Losses


class ContrastiveEncoders(nn.Module):
    """An encoder a language and the hinge over pairs and their noise (eq. 7).

    The loss is the mean over the pairs of a batch; AdaGrad's steps are the same for the sum.

    Args:
        encoders: Language -> sentences to vectors [B, D].
        objective: (a [B, D], b [B, D], n [B, K, D]) -> a sum over pairs.
    """

    def __init__(self, encoders: Mapping[str, nn.Module], objective: NoiseContrastive) -> None:
        super().__init__()
        self.encoders = nn.ModuleDict(dict(encoders))
        self._objective = objective

    def forward(self, batch: NoiseBatch) -> Losses:
        """Return `noise_contrastive`."""
        size = len(batch.source)
        mine = part(size)
        first, second = (self.encoders[language] for language in batch.languages)
        noise = second(batch.noise)[batch.picks[mine.start : mine.stop]]  # [B, K, D]
        total = self._objective(
            first(batch.source.part(mine)), second(batch.target.part(mine)), noise
        )
        return {"noise_contrastive": total * (world() / size)}
