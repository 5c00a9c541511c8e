"""How often each token is due: what a decoder can say before it has learnt anything."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from training.data.tokens import TokenTable
from training.decoders.targets import END_ID


def log_frequencies(tokens: TokenTable, targets: npt.NDArray[np.int64], size: int) -> Tensor:
    """Return float32 [V], the logarithm of each id's share of the answers to `targets`.

    One is added to each count, so that an id that is never due has a logarithm too.

    Args:
        tokens: Ids of the sentences.
        targets: int64 [N], the sentences that are written; each ends with `END_ID`.
        size: V.
    """
    ids, _ = tokens.gather(targets, longest=int(tokens.lengths.max(initial=0)))
    counts = np.bincount(ids, minlength=size) + 1.0
    counts[END_ID] += len(targets)
    return torch.from_numpy(np.log(counts / counts.sum())).float()
