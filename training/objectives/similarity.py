"""Similarity loss: translations shall lie close to each other."""

from __future__ import annotations

from torch import Tensor


def squared_distance(first: Tensor, second: Tensor) -> Tensor:
    """Return the mean over B of |h(s) - h(t)|^2, for vectors [B, D] of the same sentences.

    Yu, Li & Oguz 2018, section 2.2 (L_sim). Alone it is least where all sentences have one vector;
    the translation loss beside it is what keeps them apart.
    """
    return (first - second).square().sum(1).mean()
