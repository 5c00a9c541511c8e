"""An encoder whose vectors are mapped at the end."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from training.data.batches import Sentences
from training.encoders.settled import SettledLayers


class Mapped(nn.Module):
    """What is exported of layers: their vectors v become v M.

    Args:
        encoder: Gives vectors [B, D].
        map: M, float32 [D, D].
    """

    def __init__(self, encoder: SettledLayers, map: npt.NDArray[np.float32]) -> None:
        super().__init__()
        self.encoder = encoder
        self.map = nn.Linear(map.shape[0], map.shape[1], bias=False)
        self.map.weight = nn.Parameter(torch.from_numpy(np.ascontiguousarray(map.T)))

    def forward(self, sentences: Sentences) -> Tensor:
        """Return vectors [B, D]."""
        mapped: Tensor = self.map(self.encoder(sentences))
        return mapped

    def rectangle(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Return vectors [B, D] of ids int64 [B, S], mask bool [B, S]."""
        mapped: Tensor = self.map(self.encoder.rectangle(ids, mask))
        return mapped
