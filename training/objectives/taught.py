"""Ranking of where the teacher puts a sentence's English among where it puts others."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

_BLOCKED = -1e4


def teacher_ranking(
    vectors: Tensor,
    targets: Tensor,
    negatives: Tensor,
    *,
    temperature: float,
    alike: float = 0.9,
) -> Tensor:
    """Return the ranking loss of a sentence's own target among all targets.

    Chidambaram et al. 2018, section 2.1, with the teacher's vectors as the other side: what the
    ranking gains cannot leave the teacher's space.

    Args:
        vectors: [B, D], of any length.
        targets: [B, D], of any length; row i is that of `vectors` i.
        negatives: [N, D], further ones.
        temperature: That cosines are divided by.
        alike: Targets with a greater cosine than this to one's own say the same, and are no
            negatives.
    """
    ours = functional.normalize(vectors, dim=1)
    theirs = functional.normalize(torch.cat([targets, negatives]), dim=1)
    own = torch.arange(len(ours), device=ours.device)
    with torch.no_grad():
        same = theirs[: len(ours)] @ theirs.T > alike
        same[own, own] = False
    scores = (ours @ theirs.T / temperature).masked_fill(same, _BLOCKED)
    return functional.cross_entropy(scores, own)
