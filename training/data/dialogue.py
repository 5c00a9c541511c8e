"""Conversations as pairs: TSV with a header and the columns `input` and `response`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from training.data.lines import BrokenLines
from training.data.tsv import read_tsv


def read_dialogue(path: Path, broken: BrokenLines) -> Iterator[tuple[str, str]]:
    """Yield inputs and their responses; a pair with an empty side is broken.

    Raises:
        InputError: The header lacks a column, or a broken line is refused.
    """
    for number, (first, second) in enumerate(read_tsv(path, ("input", "response"), broken), 2):
        if first.strip() and second.strip():
            yield first, second
        else:
            broken.add(path, number, "an empty side")
