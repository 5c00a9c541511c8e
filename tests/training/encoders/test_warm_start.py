"""First token vectors from the teacher."""

from __future__ import annotations

import numpy as np
import torch

from training.encoders.warm_start import teacher_table


def test_readable_pieces_begin_near_the_teacher_and_frequent_ones_small() -> None:
    pieces = ["<pad>", "▁dog", "▁puppy", "▁algebra", "▁the", "犬"]
    occurrences = np.array([0, 10, 10, 10, 100_000, 10])
    table = teacher_table(pieces, occurrences, seed=0)
    unit = torch.nn.functional.normalize(table, dim=1)
    assert unit[1] @ unit[2] > unit[1] @ unit[3] + 0.2
    lengths = table.norm(dim=1)
    assert lengths[4] < lengths[1] / 10
    assert table.shape == (6, 384)
    assert torch.isfinite(table).all()
