"""Words as the mean of a word vector and what their character n-grams say.

Chidambaram et al. 2018, section 2.1: n-gram vectors are summed and go through one layer with tanh;
word and character vectors are averaged.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional


class WordNgramEmbedding(nn.Module):
    """Rows of features to vectors: ids int64 [B, S, F] to [B, S, D].

    A row holds the id of a word, then those of its n-grams, 0 where there are no more
    (`service.text.vocabulary.NgramTokenizer`).

    The paper does not say how 320 numbers become the 512 of the transformer: a linear layer here,
    times sqrt(D) as in Vaswani et al. 2017 (3.4), so that positions do not drown the words.

    Args:
        words: Word ids.
        ngrams: N-gram ids, 0 for none included.
        size: E, of either vector; 320 in the paper.
        width: D.
    """

    def __init__(self, *, words: int, ngrams: int, size: int, width: int) -> None:
        super().__init__()
        self.word_table = nn.Parameter(torch.randn(words, size) / math.sqrt(size))
        self.ngram_table = nn.Parameter(torch.randn(ngrams, size) / math.sqrt(size))
        self.characters = nn.Linear(size, size)
        self.result = nn.Linear(size, width)
        for part in (self.characters, self.result):
            nn.init.xavier_uniform_(part.weight)
            nn.init.zeros_(part.bias)

    @property
    def tables(self) -> list[nn.Parameter]:
        """The embeddings, whose gradients Chidambaram et al. multiply; they are sparse."""
        return [self.word_table, self.ngram_table]

    def forward(self, ids: Tensor) -> Tensor:
        """Return [B, S, D]."""
        if not self.training:
            return self._embed(ids)
        # Each different word once: a batch has few, and an n-gram's row is gathered for each.
        flat = ids.flatten(0, 1)
        first, places = _distinct(flat)
        vectors = self._embed(flat[first])[places]
        return vectors.reshape(*ids.shape[:2], -1)

    def _embed(self, ids: Tensor) -> Tensor:
        words = functional.embedding(ids[..., 0], self.word_table, sparse=True)
        grams = ids[..., 1:]
        kept = (grams > 0).unsqueeze(-1).to(self.ngram_table.dtype)
        rows = functional.embedding(grams, self.ngram_table, sparse=True)
        characters = self.characters((rows * kept).sum(-2)).tanh()
        vectors: Tensor = self.result((words + characters) / 2)
        return vectors * math.sqrt(self.result.out_features)


def _distinct(rows: Tensor) -> tuple[Tensor, Tensor]:
    """Return the places of rows [N, F] that differ, [U], and for each row its place there, [N].

    Rows are told apart by a sum of their numbers times fixed odd 64-bit factors; two different rows
    of a batch have the same one with a chance of about 1 in 10**12.
    """
    generator = torch.Generator().manual_seed(0)
    factors = torch.randint(-(2**62), 2**62, (rows.shape[1],), generator=generator) * 2 + 1
    codes = (rows * factors.to(rows.device)).sum(1)
    kinds, places = torch.unique(codes, return_inverse=True)
    first = rows.new_empty(len(kinds)).scatter_(
        0, places, torch.arange(len(rows), device=rows.device)
    )
    return first, places
