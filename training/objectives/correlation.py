"""How well cosines follow people's scores."""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional


def correlation(one: Tensor, other: Tensor) -> Tensor:
    """Return Pearson's correlation of two [B], by which such scores are judged.

    Cer et al. 2017 (SemEval-2017 Task 1), section 6.
    """
    return functional.cosine_similarity(one - one.mean(), other - other.mean(), dim=0)
