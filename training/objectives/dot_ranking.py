r"""Ranking by dot product: the right answer among the answers of the batch and hard negatives.

Chidambaram et al. 2018, eq. 1-2, with x_i the inputs, y_j the answers and z_ik hard negatives:

    -log P(y_i | x_i) = -x_i . y_i + log( sum_j exp(x_i . y_j) + sum_k exp(x_i . z_ik) )

One direction, no scaling of lengths, no temperature, unlike `training.objectives.ranking`. Each
input has its own K hard negatives beside the batch's answers, which are shared (section 2.2 appends
them "for each training example").
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional


def dot_ranking(inputs: Tensor, answers: Tensor, negatives: Tensor | None = None) -> Tensor:
    """Return the mean of -log P over the batch.

    Args:
        inputs: x, [B, D].
        answers: y, [B, D].
        negatives: z, [B, K, D].
    """
    # In full precision: dot products of vectors this wide leave bf16 two digits.
    scores = inputs.float() @ answers.float().T  # [B, B]
    if negatives is not None:
        own = (inputs.float()[:, None] * negatives.float()).sum(2)  # [B, K]
        scores = torch.cat([scores, own], dim=1)
    return functional.cross_entropy(scores, torch.arange(len(inputs), device=scores.device))


class TranslationRanking(nn.Module):
    """P(source | target), without layers of its own (Chidambaram et al. 2018, section 2.2)."""

    def forward(self, vectors: tuple[Tensor, ...], labels: Tensor) -> Tensor:  # noqa: ARG002
        """Return the loss.

        Args:
            vectors: Targets [B, D], sources [B, D], and K times the k-th hard negatives [B, D].
            labels: None; int64 [0].
        """
        targets, sources, *negatives = vectors
        return dot_ranking(targets, sources, torch.stack(negatives, 1) if negatives else None)
