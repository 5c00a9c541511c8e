"""Labelled texts and pairs of texts in TSV files, as heads are fitted and measured on them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from service.classification.example import Example, example_from_json
from service.errors import InputError, shorten
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
        labels: Leave out rows with any other label; None keeps all. Blanks around one are no part
            of it.

    Raises:
        InputError: It has other columns, a broken line, or a row without a text or a label.
    """
    header = set(read_header(path))
    fitting = [columns for columns in _COLUMNS if header.issuperset(columns)]
    if not fitting:
        raise InputError(
            f"{path}:1: the columns text and label are due, or premise, hypothesis and label; "
            f"it has {shorten(', '.join(sorted(header)))}.",
            remedy="The first line names the columns, separated by tabs.",
        )
    rows = read_tsv(path, fitting[-1], BrokenLines("refuse"))
    for number, (text, *pair, label) in enumerate(rows, start=2):
        if labels is None or label.strip() in labels:
            yield replace(_example(path, number, text, pair, label.strip()), language=language)


def _example(path: Path, number: int, text: str, pair: Sequence[str], label: str) -> Example:
    """Return a row as the service takes it over HTTP, or name the line that it would refuse."""
    row = {"text": text, "label": label, "text_pair": pair[0] if pair else None}
    try:
        return example_from_json(row, multi_label=False)
    except InputError as error:
        error.message = f"{path}:{number}: {error.message}"
        raise


def language_of(path: Path) -> str:
    """Return the language that a file's name begins with: `de` of `de.dev.tsv.gz`."""
    return path.name.split(".")[0]
