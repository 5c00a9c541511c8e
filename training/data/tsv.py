"""TSV with a header row: `text<TAB>label`, `sentence1<TAB>sentence2<TAB>score`, and the like.

No quoting: a tab separates, a line break ends, and quotation marks are text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from service.errors import InputError, shorten
from training.data.lines import BrokenLines, read_lines


def read_header(path: Path) -> tuple[str, ...]:
    """Return the column names of `path`.

    Raises:
        InputError: The file is empty or its first line is broken.
    """
    lines = read_lines(path, BrokenLines("refuse"))
    if not lines or not lines[0]:
        raise InputError(f"{path}:1: a header row is due.", remedy="Name the columns, by tabs.")
    return tuple(lines[0].split("\t"))


def read_all(path: Path, columns: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the values of `columns` of every row of a file to measure with.

    Raises:
        InputError: The header lacks one of `columns`, a line is broken, or there is no row.
    """
    rows = list(read_tsv(path, columns, BrokenLines("refuse")))
    if not rows:
        raise InputError(f"{path} has a header and no row.", remedy="Leave it out, or add rows.")
    return rows


def read_tsv(path: Path, columns: Sequence[str], broken: BrokenLines) -> Iterator[tuple[str, ...]]:
    """Yield the values of `columns` of each row, in that order.

    Raises:
        InputError: The header lacks one of `columns`, or a broken line is refused.
    """
    lines = read_lines(path, broken)
    header = (lines[0] or "").split("\t") if lines else []
    missing = [name for name in columns if name not in header]
    if missing:
        raise InputError(
            f"{path}:1: the header lacks {', '.join(missing)}; it has "
            f"{shorten(', '.join(header))}.",
            remedy="The first line names the columns, separated by tabs.",
        )
    places = [header.index(name) for name in columns]
    for number, line in enumerate(lines[1:], start=2):
        if line is None:
            continue  # counted when it was read
        values = line.split("\t")
        if len(values) != len(header):
            broken.add(path, number, f"{len(values)} columns where the header has {len(header)}")
            continue
        yield tuple(values[place] for place in places)
