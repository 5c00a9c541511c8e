r"""In-batch translation ranking: a sentence's translation among all targets of the batch.

With unit vectors x_i of the sources and y_i of the targets, temperature t and margin m,

    s_ij = (x_i . y_j - m [i = j]) / t
    loss = 1/2B sum_i ( -log softmax_j(s_i.)_i  -log softmax_j(s_.i)_i )

which is the dual-encoder ranking loss of Chidambaram et al. 2018 (section 2.1) in both directions,
with the additive margin of Yang et al. 2019 (Improving Multilingual Sentence Embedding using
Bi-directional Dual Encoder with Additive Margin Softmax, eq. 4).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor
from torch.autograd.function import FunctionCtx
from torch.nn import functional

from training.data.batches import PairBatch
from training.devices import has_fast_bf16


class _SymmetricRanking(torch.autograd.Function):
    """The loss above with its gradient, in one pass of exp over the B x B matrix.

    Both softmaxes share exp(s_ij), and the gradient with respect to s is
    (softmax by row + softmax by column - 2 I) / 2B, so the matrix is made once instead of five
    times; on a CPU that is most of a step.
    """

    @staticmethod
    def forward(
        ctx: FunctionCtx, source: Tensor, target: Tensor, temperature: float, margin: float
    ) -> Tensor:
        size = source.shape[0]
        if has_fast_bf16() or source.is_cuda:
            source, target = source.bfloat16(), target.bfloat16()
        scores = (source @ target.T).float()
        diagonal = scores.diagonal().sub_(margin).clone()
        # Unit vectors: no score is above 1, so exp cannot overflow and needs no running maximum.
        scores.sub_(1.0).div_(temperature).exp_()
        rows, columns = scores.sum(1), scores.sum(0)
        loss = (rows.log() + columns.log()).mean() / 2 - ((diagonal - 1) / temperature).mean()
        scale = 1 / (2 * size * temperature)
        scores.mul_((1 / rows)[:, None] + (1 / columns)[None]).mul_(scale)
        scores.diagonal().sub_(2 * scale)
        ctx.save_for_backward(source, target, scores.to(source.dtype))
        return loss

    @staticmethod
    def backward(
        ctx: torch.autograd.function.BackwardCFunction, gradient: Tensor
    ) -> tuple[Tensor, Tensor, None, None]:
        source, target, scores = cast(tuple[Tensor, Tensor, Tensor], ctx.saved_tensors)
        to_source = (scores @ target).float() * gradient
        to_target = (scores.T @ source).float() * gradient
        return to_source, to_target, None, None


def symmetric_ranking(
    source: Tensor, target: Tensor, *, temperature: float, margin: float = 0.0
) -> Tensor:
    """Return the loss of unit vectors `source` and `target`, both [B, D]."""
    loss = _SymmetricRanking.apply(source, target, temperature, margin)  # type: ignore[no-untyped-call]
    return cast(Tensor, loss)


@dataclass(frozen=True, slots=True, kw_only=True)
class InBatchRanking:
    """Ranking of translations among the batch, both ways."""

    temperature: float = 0.05
    margin: float = 0.0

    def __call__(self, source: Tensor, target: Tensor, batch: PairBatch) -> Tensor:  # noqa: ARG002
        """Return the loss of `source` and `target`, both [B, D], of any length."""
        return symmetric_ranking(
            functional.normalize(source, dim=1),
            functional.normalize(target, dim=1),
            temperature=self.temperature,
            margin=self.margin,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class NestedRanking:
    """Ranking by the first few dimensions only, so that vectors may be cut to them.

    Matryoshka representation learning, Kusupati et al. 2022 (eq. 1). Departure: one of `widths` a
    batch, in turn, over the first half of the pairs, where the paper sums over all widths; in the
    mean it is the same objective at a fraction of the cost.
    """

    widths: tuple[int, ...]
    temperature: float = 0.05
    margin: float = 0.0

    def __call__(self, source: Tensor, target: Tensor, batch: PairBatch) -> Tensor:
        """Return the loss of the first dimensions of `source` and `target`, both [B, D]."""
        width = self.widths[batch.number % len(self.widths)]
        half = max(2, source.shape[0] // 2)
        return symmetric_ranking(
            functional.normalize(source[:half, :width], dim=1),
            functional.normalize(target[:half, :width], dim=1),
            temperature=self.temperature,
            margin=self.margin,
        )
