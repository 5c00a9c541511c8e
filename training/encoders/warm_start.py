"""First token vectors from the teacher: what it says of a piece of text standing alone.

Pieces in Latin letters are what an English teacher can read; they give the others something to
align to from the first step. Frequent pieces are damped by smooth inverse frequency, a / (a + p)
(Arora et al. 2017, section 3), which the training then refines.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional

from training.encoders.static import random_table
from training.teacher import DIMENSION, Teacher

_FREQUENCY = 1e-3  # a of smooth inverse frequency
_LENGTH = 0.4  # of a rare piece's vector
_LEAST = 0.05  # of the damping


def teacher_table(
    pieces: Sequence[str],
    occurrences: npt.NDArray[np.int64],
    *,
    seed: int,
    teacher: Teacher | None = None,
) -> Tensor:
    """Return first token vectors, float32 [V, 384].

    Args:
        pieces: The vocabulary's pieces, `▁` where a word begins.
        occurrences: int64 [V], how often each occurs in the corpus.
        seed: Of the vectors of pieces that the teacher cannot read.
        teacher: Made here where None.
    """
    table = random_table(len(pieces), DIMENSION, seed=seed)
    plain = [piece.replace("▁", " ").strip() for piece in pieces]
    readable = [i for i, piece in enumerate(plain) if piece and piece.isascii()]
    if readable:
        vectors = (teacher or Teacher()).encode([plain[i] for i in readable])
        seen = torch.from_numpy(vectors.astype(np.float32))
        seen = functional.normalize(seen - seen.mean(0), dim=1) * _LENGTH
        # A little noise keeps pieces with the same text apart (`▁on` and `on`).
        table[readable] = seen + table[readable] / 4
    share = torch.from_numpy(occurrences / max(1, occurrences.sum())).float()
    damping = (_FREQUENCY / (_FREQUENCY + share)).clamp_min(_LEAST)
    return table * damping[:, None]
