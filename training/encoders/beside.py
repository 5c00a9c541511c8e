"""Static vectors of a second vocabulary beside an encoder.

    v = unit(encoder)  +  weight * unit(sum of the second vocabulary's vectors)

What one vocabulary has learnt badly of a word, another cuts into pieces that it knows well. The two
are trained by themselves: their errors have to differ for the sum to be better than either.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from training.encoders.mapped import Mapped
from training.encoders.settled import SettledLayers


class Beside(nn.Module):
    """An encoder of rows of ids: the first of each is its own token, the others the second's.

    Args:
        encoder: Of the first vocabulary.
        table: float32 [V, D], static vectors of the second, whose id 0 is none.
        weight: Of their half.
    """

    def __init__(self, encoder: SettledLayers | Mapped, table: Tensor, *, weight: float) -> None:
        super().__init__()
        self.encoder = encoder
        none = torch.zeros(1, table.shape[1])
        self.table = nn.Parameter(torch.cat([none, table]))
        self.weight = weight

    def rectangle(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Return vectors [B, D] of ids int64 [B, S, F], mask bool [B, S]; what is exported."""
        own = functional.normalize(self.encoder.rectangle(ids[:, :, 0], mask), dim=1)
        beside = ids[:, :, 1:].reshape(ids.shape[0], -1)  # [B, S * (F - 1)]
        summed = functional.embedding(beside, self.table).sum(1)
        return own + self.weight * functional.normalize(summed, dim=1)
