"""Additive composition: a sentence vector is the sum of its words' vectors.

Hermann & Blunsom 2013, eq. 3: a_root = sum_i a_i.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from training.data.batches import Sentences


class AdditiveEncoder(nn.Module):
    """Sum of word vectors, [N] ids of B sentences to [B, D].

    Args:
        table: float32 [V, D], the first values of the word vectors.
    """

    def __init__(self, table: Tensor) -> None:
        super().__init__()
        self.table = nn.Parameter(table)

    @property
    def dimension(self) -> int:
        """Width D of a sentence vector."""
        return self.table.shape[1]

    def forward(self, sentences: Sentences) -> Tensor:
        """Return sentence vectors [B, D]; a sentence without words gives zeros.

        The gradient of the table is sparse, each row in it once.
        """
        words, places = torch.unique(sentences.ids, return_inverse=True)  # [U], [N]
        vectors = functional.embedding(words, self.table, sparse=True)  # [U, D]
        return functional.embedding_bag(places, vectors, sentences.offsets, mode="sum")

    def rectangle(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Return vectors [B, D] of ids int64 [B, S], mask bool [B, S]; what is exported."""
        vectors: Tensor = self(Sentences.from_padded(ids, mask))
        return vectors
