"""Additive composition: a sentence vector is the mean of learned, weighted token vectors.

Hermann & Blunsom 2013, section 3.1 (ADD), brought up to date: subwords of one shared vocabulary in
place of a vocabulary a language.

- A token's weight is the length of its vector: w_t v_t with |v_t| = 1 is any vector there is, so
  one table holds both. Training lengthens the vectors of telling tokens and shortens the others.
- Only the rows of a batch are touched: the gradient of the table is sparse.
- Rare tokens come out too long, since each tells the few sentences apart that it was trained on;
  `flatten_lengths` mends that when the training is over.
"""

from __future__ import annotations

import torch
from torch import Tensor

from training.data.batches import Sentences
from training.encoders.additive import AdditiveEncoder


class StaticEncoder(AdditiveEncoder):
    """Mean of token vectors, [N] ids of B sentences to [B, D].

    Args:
        table: float32 [V, D], the first values of the token vectors.
    """

    def forward(self, sentences: Sentences) -> Tensor:
        """Return sentence vectors [B, D], not normalised; a sentence without tokens gives zeros."""
        return super().forward(sentences) / sentences.lengths.clamp(min=1)[:, None]


def random_table(vocabulary: int, dimension: int, *, seed: int, scale: float = 0.02) -> Tensor:
    """Return float32 [V, D] of normally distributed numbers with deviation `scale`."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(vocabulary, dimension, generator=generator) * scale


def flatten_lengths(table: Tensor, power: float) -> Tensor:
    """Return float32 [V, D]: the rows of `table`, each of length m (l / m) ** `power`.

    l is the row's own length and m the median of all. Below 1, long rows are shortened and short
    ones lengthened, so that a sentence hangs less on its rarest tokens. Directions stay. It is
    power-law smoothing of a distribution of weights, as of negative samples in word2vec (Mikolov et
    al. 2013, Distributed Representations of Words and Phrases, section 2.2), applied to learned
    weights.

    Args:
        table: float32 [V, D]; rows of zeros stay so.
        power: 1 changes nothing, 0 makes all rows equally long.
    """
    lengths = table.norm(dim=1, keepdim=True)  # [V, 1]
    median = lengths.median().clamp_min(torch.finfo(table.dtype).tiny)
    factors = (lengths / median) ** (power - 1)
    return table * torch.where(lengths > 0, factors, 1.0)
