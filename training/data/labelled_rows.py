"""Labelled texts and pairs of texts in TSV files, as heads are fitted and measured on them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

from service.classification.example import Example
from service.errors import InputError
from training.data.lines import BrokenLines
from training.data.tsv import read_header, read_tsv

_COLUMNS = (("text", "label"), ("premise", "hypothesis", "label"), ("text", "text_pair", "label"))


def read_labelled(
    path: Path, *, language: str | None = None, labels: Collection[str] | None = None
) -> Iterator[Example]:
    """Yield the rows of `path`, whose columns are text and label, or two texts and a label.

    Args:
        path: TSV with a header, gzip or not.
        language: Of its texts.
        labels: Leave out rows with any other label; None keeps all.

    Raises:
        InputError: It has other columns, or a broken line.
    """
    header = set(read_header(path))
    fitting = [columns for columns in _COLUMNS if header.issuperset(columns)]
    if not fitting:
        raise InputError(
            f"{path}:1: the columns text and label are due, or premise, hypothesis and label; "
            f"it has {', '.join(sorted(header))}."
        )
    for text, *pair, label in read_tsv(path, fitting[-1], BrokenLines("refuse")):
        if labels is None or label in labels:
            yield Example(text, (label,), language, pair[0] if pair else None)


def language_of(path: Path) -> str:
    """Return the language that a file's name begins with: `de` of `de.dev.tsv.gz`."""
    return path.name.split(".")[0]
