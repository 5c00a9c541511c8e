"""Tables for people: columns in line, numbers to the right."""

from __future__ import annotations

from collections.abc import Sequence


def format_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return `rows` under `header`, first column to the left, the others to the right."""
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]

    def line(cells: Sequence[str]) -> str:
        first, *others = cells
        right = (f"{cell:>{width}}" for cell, width in zip(others, widths[1:], strict=True))
        return "  ".join([f"{first:<{widths[0]}}", *right]).rstrip()

    return "\n".join([line(header), *(line(row) for row in rows)])
