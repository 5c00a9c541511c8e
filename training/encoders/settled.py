"""The layers of `interlingua-mini` in the form in which they are stored.

    v = unit(mean of the layers' last states)

What the layers read of a token no longer goes through a network: it was computed for every token
once, and is kept in parts (`training.encoders.product_vectors`). Their products have weights of 4
bits, to which they were trained (`training.rounding`).
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from training.data.batches import Sentences
from training.encoders.bert import BertBody, mean_state
from training.encoders.product_vectors import ProductVectors


class SettledLayers(nn.Module):
    """Sentences to vectors [B, D] of length 1.

    Args:
        read: What the layers read of each token.
        body: The layers.
        products: The type of their products.
    """

    def __init__(
        self, read: ProductVectors, body: BertBody, *, products: torch.dtype = torch.float32
    ) -> None:
        super().__init__()
        self.read = read
        self.body = body
        self.products = products

    def forward(self, sentences: Sentences) -> Tensor:
        """Return vectors [B, D] of ragged `sentences`."""
        ids, mask = sentences.padded()
        tokens, places = torch.unique(ids, return_inverse=True)
        read = functional.embedding(places, self.read(tokens))
        return self._pooled(read, mask, whole=bool(mask.all()))

    def halves(self, sentences: Sentences) -> tuple[Tensor, Tensor]:
        """Return vectors [B, D], and zeros: no static half is trained with them."""
        vectors = self(sentences)
        return vectors, torch.zeros_like(vectors)

    def rectangle(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Return vectors [B, D] of ids int64 [B, S], mask bool [B, S]; what is exported."""
        return self._pooled(self.read(ids), mask)

    def _pooled(self, read: Tensor, mask: Tensor, *, whole: bool = False) -> Tensor:
        states = self.body(read.to(self.products), None if whole else mask)
        return functional.normalize(mean_state(states, mask), dim=1)
