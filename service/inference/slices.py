"""Cut many texts into slices of like length within a token budget."""

from __future__ import annotations

from collections.abc import Sequence

from service.inference.budget import Budget


def slice_by_length(lengths: Sequence[int], *, budget: int, pads: bool = True) -> list[list[int]]:
    """Return positions of `lengths`, grouped so that a group keeps to `budget`.

    A group's padded size is its longest text times its number of texts, in tokens; where padding
    is not computed (`pads` false), the tokens themselves count. Texts of like length go together,
    so little is padding. A text longer than the budget makes a group alone.
    """
    bound = Budget(budget, pads)
    order = sorted(range(len(lengths)), key=lengths.__getitem__)
    groups: list[list[int]] = []
    group: list[int] = []
    tokens = 0
    for position in order:
        width = max(1, lengths[position])
        if group and not bound.takes(texts=len(group) + 1, width=width, tokens=tokens + width):
            groups.append(group)
            group, tokens = [], 0
        group.append(position)
        tokens += width
    if group:
        groups.append(group)
    return groups
