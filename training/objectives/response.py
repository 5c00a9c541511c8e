"""Conversational response ranking: which sentence answers this one?

Chidambaram et al. 2018, section 2.2 (after Yang et al. 2018): the input side is the encoder alone,
the response side has two layers more, so that an answer need not lie where its question lies.
"""

from __future__ import annotations

from torch import Tensor, nn

from training.objectives.dot_ranking import dot_ranking


class ResponseTower(nn.Module):
    """Two layers with tanh: "fully-connected feedforward layers of size 320 and 512".

    Args:
        width: D, of what comes in and of what goes out.
        inner: Width between; the paper's is 320 for a D of 512.
    """

    def __init__(self, width: int, inner: int = 320) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(width, inner), nn.Tanh(), nn.Linear(inner, width), nn.Tanh()
        )

    def forward(self, vectors: Tensor) -> Tensor:
        """Return [B, D] of `vectors` [B, D]."""
        changed: Tensor = self.layers(vectors)
        return changed


class ResponseRanking(nn.Module):
    """-log P(response | input) with a tower on the response.

    Args:
        tower: [B, D] -> [B, D].
    """

    def __init__(self, tower: ResponseTower) -> None:
        super().__init__()
        self.tower = tower

    def forward(self, vectors: tuple[Tensor, ...], labels: Tensor) -> Tensor:  # noqa: ARG002
        """Return the loss.

        Args:
            vectors: Inputs [B, D], responses [B, D].
            labels: None; int64 [0].
        """
        inputs, responses = vectors
        return dot_ranking(inputs, self.tower(responses))
