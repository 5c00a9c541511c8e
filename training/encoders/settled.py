"""The encoder of `interlingua-mini`, in the form in which it is stored.

    v = unit(M mean of the layers' last states)

The layers read marks before each text, and of each of its tokens what is kept of it in parts
(`training.encoders.product_vectors`); the mean is over the tokens alone. M brings the mean into the
space of another model. The layers' products have weights of 4 bits, to which they were trained
(`training.rounding`).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
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
        body: The layers, with places for the marks and the longest text.
        marks: float32 [M, D], read before each text. They take the attention of tokens that need
            nothing, and say that a text begins.
        products: The type of the layers' products.
    """

    def __init__(
        self,
        read: ProductVectors,
        body: BertBody,
        marks: Tensor,
        *,
        products: torch.dtype = torch.float32,
    ) -> None:
        super().__init__()
        self.read = read
        self.body = body
        self.marks = nn.Parameter(marks.clone())
        width = marks.shape[1]
        self.map = nn.Linear(width, width, bias=False)
        nn.init.eye_(self.map.weight)
        self.products = products

    def forward(self, sentences: Sentences) -> Tensor:
        """Return vectors [B, D] of ragged `sentences`."""
        ids, mask = sentences.padded()
        tokens, places = torch.unique(ids, return_inverse=True)
        read = functional.embedding(places, self.read(tokens))
        return self._mapped(read, mask, whole=bool(mask.all()))

    def rectangle(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Return vectors [B, D] of ids int64 [B, S], mask bool [B, S]; what is exported."""
        return self._mapped(self.read(ids), mask)

    def follow(self, matrix: npt.NDArray[np.float32]) -> None:
        """Multiply vectors by `matrix` [D, D] from now on: v becomes v matrix."""
        with torch.no_grad():
            self.map.weight.copy_(torch.from_numpy(matrix).T @ self.map.weight)

    def _mapped(self, read: Tensor, mask: Tensor, *, whole: bool = False) -> Tensor:
        batch, marks = read.shape[0], self.marks.shape[0]
        rows = torch.cat([self.marks.expand(batch, -1, -1), read], dim=1).to(self.products)
        seen = functional.pad(mask, (marks, 0), value=True)
        states = self.body(rows, None if whole else seen)[:, marks:]
        return functional.normalize(self.map(mean_state(states, mask)), dim=1)
