r"""Distance constraints: a sentence closer to its translation than to other sentences, by a margin.

Two of Li 2021, over vectors P^(a) and P^(b) of the same B sentences in two languages. j runs over
N_s sentences of language b drawn at random for each sentence; a sentence's translation is never
drawn.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

_SMALL = 1e-6
"""epsilon of eq. 4.18-4.19, "a small value added to prevent division by zero"."""


def squared_distances(first: Tensor, second: Tensor) -> Tensor:
    """Return |a_i - b_j|^2 for all pairs of `first` [B, D] and `second` [B, D], float32 [B, B]."""
    first, second = first.float(), second.float()
    with torch.autocast(first.device.type, enabled=False):
        products = first @ second.T
    lengths = first.square().sum(1)[:, None] + second.square().sum(1)
    return (lengths - 2 * products).clamp(min=0)


def distances(first: Tensor, second: Tensor) -> Tensor:
    """Return |a_i - b_j| for all pairs of `first` [B, D] and `second` [B, D], float32 [B, B].

    From the differences: the root of what products leave over would be noise for close vectors,
    and its gradient infinite for equal ones; here it is 0.
    """
    with torch.autocast(first.device.type, enabled=False):
        return torch.cdist(
            first.float(), second.float(), compute_mode="donot_use_mm_for_euclid_dist"
        )


def draw_others(size: int, count: int, device: torch.device) -> Tensor:
    """Return int64 [B, count]: for each of `size` sentences, others drawn with replacement."""
    steps = torch.randint(1, size, (size, count), device=device)
    return (torch.arange(size, device=device)[:, None] + steps) % size


@dataclass(frozen=True, slots=True, kw_only=True)
class NtdvDistance:
    r"""The constraint of cNV, summed over the N_s draws.

    Li 2021, eq. 3.6-3.7 and the sum of eq. 3.8:

        k_j = |P^(a) - P^(b)|^2 - |P^(a) - P^(b_j)|^2
        l_j = max(0, alpha + alpha k_j / (2 v_norm + 1))

    Averaged over the sentences. P is the context matrix; its Frobenius norm is the length of its
    columns one after the other, so vectors NV_con are what is given. v_norm is the mean norm of the
    batch.

    Attributes:
        margin: alpha; 2 sqrt(d_h) = 64 in the thesis.
        draws: N_s, 20 in the thesis.
    """

    margin: float
    draws: int = 20

    def __call__(self, first: Tensor, second: Tensor) -> Tensor:
        """Return the loss of `first` and `second`, both [B, D]; 0 for one pair alone."""
        if len(first) < 2:
            return first.sum() * 0.0
        squared = squared_distances(first, second)
        others = squared.gather(1, draw_others(len(first), self.draws, first.device))
        difference = squared.diagonal()[:, None] - others  # k [B, N_s]
        norm = torch.cat([first, second]).float().norm(dim=1).mean()
        losses = (self.margin + self.margin * difference / (2 * norm + 1)).clamp(min=0)
        mean: Tensor = losses.sum(1).mean()
        return mean


@dataclass(frozen=True, slots=True, kw_only=True)
class TmdeDistance:
    r"""The constraint of cT-MDE and cLASER.

    Li 2021, eq. 4.18-4.20 and the bracket of 4.21:

        d_p     = |P^(a) - P^(b)| / (v_norm + eps)
        d_n_j   = |P^(a) - P^(b_j)| / (v_norm + eps)
        delta_j = max(0, alpha - (d_n_j - d_p))
        loss    = d_p + lambda / N_s sum_j delta_j

    Averaged over the sentences. Departure: no square. The equations print |.|^2, which the text
    calls "the Euclidean distance"; the code published with the thesis takes the distance itself.
    v_norm is "the average Euclidean distance computed from all sentence pairs in a training batch",
    all B x B of them: then no scaling of the vectors changes the loss. (Over translations alone it
    would make the mean of d_p 1 always; the code divides by the length of the mean vectors.)

    Attributes:
        margin: alpha, 0.5 in the thesis.
        weight: lambda, 1 in the thesis (4.3.1).
        draws: N_s, 40 in the thesis.
    """

    margin: float = 0.5
    weight: float = 1.0
    draws: int = 40

    def __call__(self, first: Tensor, second: Tensor) -> Tensor:
        """Return the loss of `first` and `second`, both [B, D]; 0 for one pair alone."""
        if len(first) < 2:
            return first.sum() * 0.0
        apart = distances(first, second)
        scaled = apart / (apart.mean() + _SMALL)
        parallel = scaled.diagonal()  # d_p [B]
        others = scaled.gather(1, draw_others(len(first), self.draws, first.device))
        deltas = (self.margin - (others - parallel[:, None])).clamp(min=0)  # [B, N_s]
        return (parallel + self.weight * deltas.mean(1)).mean()
