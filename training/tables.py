"""Tables for people: columns in line, numbers to the right."""

from __future__ import annotations

from collections.abc import Collection, Sequence


def format_table(
    header: Sequence[str], rows: Sequence[Sequence[str]], *, text: Collection[int] = ()
) -> str:
    """Return `rows` under `header`.

    Args:
        header: Names of the columns.
        rows: Their cells.
        text: Columns that are written to the left, as the first one always is; the others are
            numbers and go to the right.
    """
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]

    def line(cells: Sequence[str]) -> str:
        padded = (
            f"{cell:<{width}}" if place == 0 or place in text else f"{cell:>{width}}"
            for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
        )
        return "  ".join(padded).rstrip()

    return "\n".join([line(header), *(line(row) for row in rows)])
