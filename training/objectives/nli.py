"""Natural language inference: does the first sentence entail the second?

Chidambaram et al. 2018, section 2.2, with the features of Conneau et al. 2017 (InferSent):

    r = (u, v, |u - v|, u * v),   P = softmax(W_2 tanh(W_1 r))

The paper does not name the activation of its layer of 512; tanh, as in its other layers.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional


def relation_features(first: Tensor, second: Tensor) -> Tensor:
    """Return (u, v, |u - v|, u * v), [B, 4D], of u and v, both [B, D]."""
    return torch.cat([first, second, (first - second).abs(), first * second], dim=1)


class InferenceHead(nn.Module):
    """Classifies pairs of sentence vectors.

    Args:
        width: D.
        inner: Width of the hidden layer; 512 in the paper.
        labels: How many; entailment, neutral and contradiction in the paper.
    """

    def __init__(self, width: int, *, inner: int = 512, labels: int = 3) -> None:
        super().__init__()
        self.hidden = nn.Linear(4 * width, inner)
        self.output = nn.Linear(inner, labels)

    def logits(self, first: Tensor, second: Tensor) -> Tensor:
        """Return [B, labels] of premises and hypotheses, both [B, D]."""
        scores: Tensor = self.output(self.hidden(relation_features(first, second)).tanh())
        return scores

    def forward(self, vectors: tuple[Tensor, ...], labels: Tensor) -> Tensor:
        """Return the mean cross-entropy.

        Args:
            vectors: Premises [B, D], hypotheses [B, D].
            labels: int64 [B].
        """
        premises, hypotheses = vectors
        return functional.cross_entropy(self.logits(premises, hypotheses).float(), labels)
