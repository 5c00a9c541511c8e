"""The multi-task system: one shared encoder, a head a task, one task a step.

Chidambaram et al. 2018, section 2 and figure 1.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from training.data.task_batches import TaskBatch
from training.encoders.states import encode_by_length
from training.parallel import gather_rows, part, world
from training.system import Losses


class MultiTask(nn.Module):
    """A shared encoder and the heads that judge its vectors.

    Args:
        encoder: Sentences to vectors [B, D].
        heads: By name; forward(vectors of the sides, labels) -> one number.
    """

    def __init__(self, encoder: nn.Module, heads: Mapping[str, nn.Module]) -> None:
        super().__init__()
        self.encoder = encoder
        self.heads = nn.ModuleDict(dict(heads))

    def forward(self, batch: TaskBatch) -> Losses:
        """Return the loss of the batch's task, by its name."""
        sentences = batch.sentences
        mine = sentences.part(part(len(sentences)))
        vectors = gather_rows(encode_by_length(self.encoder, mine), len(sentences))
        sides = torch.tensor_split(vectors, batch.sides)
        loss: Tensor = self.heads[batch.head](sides, batch.labels)
        if world() > 1:
            # Several processes wait for a gradient of every weight, the other heads' too.
            loss = loss + sum((weight.sum() * 0 for weight in self.heads.parameters()), loss * 0)
        return {batch.task: loss}
