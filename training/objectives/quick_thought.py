"""Quick thought: which sentence comes before this one, and which after it?

Chidambaram et al. 2018, section 2.2 (a variant of Logeswaran & Lee 2018): the sum of
-log P(successor | sentence) and -log P(predecessor | sentence), each side with layers of its own.
"""

from __future__ import annotations

from torch import Tensor, nn

from training.objectives.dot_ranking import dot_ranking
from training.objectives.response import ResponseTower


class QuickThought(nn.Module):
    """Ranking of neighbours with three towers.

    Args:
        before: Tower of predecessors.
        middle: Tower of the sentences themselves.
        after: Tower of successors.
    """

    def __init__(self, before: ResponseTower, middle: ResponseTower, after: ResponseTower) -> None:
        super().__init__()
        self.before = before
        self.middle = middle
        self.after = after

    def forward(self, vectors: tuple[Tensor, ...], labels: Tensor) -> Tensor:  # noqa: ARG002
        """Return the loss.

        Args:
            vectors: Predecessors, sentences and successors, each [B, D].
            labels: None; int64 [0].
        """
        before, middle, after = vectors
        inputs = self.middle(middle)
        return dot_ranking(inputs, self.after(after)) + dot_ranking(inputs, self.before(before))
