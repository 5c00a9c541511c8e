"""What a decoder is given and what it has to say: teacher forcing, for all decoders alike.

A target w_1 .. w_n is given as (begin, w_1 .. w_n) and has to be answered with (w_1 .. w_n, end).
The padding id is in no sentence, so in a decoder's output it stands for the end; what the begin is,
each decoder decides (a mark of its own, or one a target language).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from training.data.batches import Sentences
from training.vocabulary import PADDING_ID

END_ID = PADDING_ID
"""What a decoder says after the last token."""


@dataclass(frozen=True, slots=True)
class Forced:
    """Targets made ready for a decoder, padded on the right.

    Attributes:
        previous: int64 [B, T + 1], the token before each answer; column 0 is the begin and holds
            no id of the vocabulary's.
        mask: bool [B, T + 1], False at pads.
        answers: int64 [M], the ids that are due at the places where `mask` is True, row by row.
        sentence: int64 [M], which sentence each of the M places belongs to.
    """

    previous: Tensor
    mask: Tensor
    answers: Tensor
    sentence: Tensor


@dataclass(frozen=True, slots=True)
class Predictions:
    """What a decoder says of its targets, at each place that is not a pad.

    Attributes:
        logits: float32 [M, V].
        answers: int64 [M], the ids that were due.
        sentence: int64 [M], which of the B sentences each place belongs to.
        sentences: B.
    """

    logits: Tensor
    answers: Tensor
    sentence: Tensor
    sentences: int


def force(target: Sentences) -> Forced:
    """Return `target` shifted by one, with the end as the last answer."""
    ids, mask = target.padded(END_ID)  # [B, T]
    size = len(target)
    begin = ids.new_zeros(size, 1)
    previous = torch.cat([begin, ids], dim=1)  # [B, T + 1]
    longer = torch.cat([mask.new_ones(size, 1), mask], dim=1)  # the begin is always there
    due = torch.cat([ids, begin + END_ID], dim=1)  # pads and the end are the same id
    sentence = torch.arange(size, device=ids.device)[:, None].expand_as(due)
    return Forced(previous, longer, due[longer], sentence[longer])
