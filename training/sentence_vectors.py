"""From a vector a token to a vector a sentence.

Each takes States [B, S, D] and gives [B, D] (self-attention [B, hops x D]); pads never change it,
and a sentence without tokens gives zeros.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from training.encoders.states import States


class LastState(nn.Module):
    """The state of the last token, of encoders that read from left to right.

    Schwenk & Douze 2017, section 4.1: "the last state of the LSTM is used as sentence
    representation".
    """

    def forward(self, states: States) -> Tensor:
        """Return [B, D]."""
        last = (states.mask.long().sum(1) - 1).clamp(min=0)  # [B]
        index = last[:, None, None].expand(-1, 1, states.vectors.shape[2])
        return _or_zeros(states.vectors.gather(1, index)[:, 0], states.mask)


class FirstState(nn.Module):
    """The state of a token put before every sentence, of encoders that have one.

    Li 2021, section 4.2.1: "we use the first encoder output as sentence embedding". It stands for
    a sentence without tokens too, so there are no zeros.
    """

    def forward(self, states: States) -> Tensor:
        """Return [B, D]."""
        return states.vectors[:, 0]


class MaxPooling(nn.Module):
    """The greatest value of each dimension, over the tokens (Schwenk & Douze 2017, section 4.1)."""

    def forward(self, states: States) -> Tensor:
        """Return [B, D]."""
        least = torch.finfo(states.vectors.dtype).min
        return _or_zeros(
            states.vectors.masked_fill(~states.mask[:, :, None], least).amax(1), states.mask
        )


class MeanPooling(nn.Module):
    """The mean over the tokens (Yu, Li & Oguz 2018, section 2.2)."""

    def forward(self, states: States) -> Tensor:
        """Return [B, D]."""
        kept = states.mask.to(states.vectors.dtype)[:, :, None]
        return (states.vectors * kept).sum(1) / kept.sum(1).clamp(min=1)


class SelfAttention(nn.Module):
    """Structured self-attention (Lin et al. 2017, eq. 6-7), the third of Yu, Li & Oguz 2018.

        A = softmax(W2 tanh(W1 H^T)),  M = A H

    The rows of M stand one after the other. Yu et al. give their vectors 1024 dimensions, the width
    of their states, so there is one hop, and no penalty on hops that are alike.

    Args:
        states: Width D of a state.
        inner: Width of the tanh layer; 350 in Lin et al.
        hops: Rows of A.
    """

    def __init__(self, states: int, *, inner: int = 350, hops: int = 1) -> None:
        super().__init__()
        self.inner = nn.Linear(states, inner, bias=False)
        self.hops = nn.Linear(inner, hops, bias=False)

    def forward(self, states: States) -> Tensor:
        """Return [B, hops x D]."""
        scores = self.hops(torch.tanh(self.inner(states.vectors)))  # [B, S, hops]
        least = torch.finfo(scores.dtype).min
        weights = scores.masked_fill(~states.mask[:, :, None], least).softmax(1)
        return _or_zeros((weights.transpose(1, 2) @ states.vectors).flatten(1), states.mask)


def _or_zeros(vectors: Tensor, mask: Tensor) -> Tensor:
    """Return `vectors`, zeros where a sentence has no token."""
    return torch.where(mask.any(1, keepdim=True), vectors, torch.zeros_like(vectors))
