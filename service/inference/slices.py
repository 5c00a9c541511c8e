"""Cut many texts into slices of like length within a token budget."""

from __future__ import annotations

from collections.abc import Sequence


def slice_by_length(lengths: Sequence[int], *, budget: int) -> list[list[int]]:
    """Return positions of `lengths`, grouped so that a group's padded size keeps to `budget`.

    A group's padded size is its longest text times its number of texts, in tokens. Texts of like
    length go together, so little is padding. A text longer than the budget makes a group alone.
    """
    order = sorted(range(len(lengths)), key=lengths.__getitem__)
    groups: list[list[int]] = []
    group: list[int] = []
    for position in order:
        width = max(1, lengths[position])
        if group and width * (len(group) + 1) > budget:
            groups.append(group)
            group = []
        group.append(position)
    if group:
        groups.append(group)
    return groups
