"""Means of weights."""

from __future__ import annotations

import torch
from torch import nn


def blend(trained: nn.Module, start: nn.Module, part: float) -> None:
    """Move the weights of `trained`, in place, `part` of the way back to those of `start`.

    What a model knew before it was trained on, and forgot, comes back sooner than what it learned
    goes (Wortsman et al. 2022, Robust fine-tuning of zero-shot models, eq. 1).

    Args:
        trained: Began as `start`.
        start: Of the same weights.
        part: 0 changes nothing.
    """
    before = dict(start.named_parameters())
    with torch.no_grad():
        for name, weight in trained.named_parameters():
            weight.lerp_(before[name], part)
