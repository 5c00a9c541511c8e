"""Additive composition: a sentence vector is the mean of learned, weighted token vectors.

Hermann & Blunsom 2013, section 3.1 (ADD), brought up to date: subwords of one shared vocabulary in
place of a vocabulary a language.

- A token's weight is the length of its vector: w_t v_t with |v_t| = 1 is any vector there is, so
  one table holds both. Training lengthens the vectors of telling tokens and shortens the others.
- Only the rows of a batch are touched: the gradient of the table is sparse.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from training.data.batches import Sentences


class StaticEncoder(nn.Module):
    """Mean of token vectors, [N] ids of B sentences to [B, D].

    Args:
        table: float32 [V, D], the first values of the token vectors.
    """

    def __init__(self, table: Tensor) -> None:
        super().__init__()
        self.table = nn.Parameter(table)

    @property
    def dimension(self) -> int:
        """Width D of a sentence vector."""
        return self.table.shape[1]

    def forward(self, sentences: Sentences) -> Tensor:
        """Return sentence vectors [B, D], not normalised; a sentence without tokens gives zeros.

        Args:
            sentences: B sentences, ragged.
        """
        # Each row is gathered once however often its token occurs, and so is its gradient summed.
        tokens, places = torch.unique(sentences.ids, return_inverse=True)  # [U], [N]
        vectors = functional.embedding(tokens, self.table, sparse=True)  # [U, D]
        sums = functional.embedding_bag(places, vectors, sentences.offsets, mode="sum")  # [B, D]
        return sums / sentences.lengths.clamp(min=1)[:, None]


def random_table(vocabulary: int, dimension: int, *, seed: int, scale: float = 0.02) -> Tensor:
    """Return float32 [V, D] of normally distributed numbers with deviation `scale`."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(vocabulary, dimension, generator=generator) * scale
