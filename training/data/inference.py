r"""Natural language inference in the formats it is published in.

| set | file | a line |
|---|---|---|
| SNLI, MultiNLI | `*.jsonl` | `{"gold_label", "sentence1", "sentence2", ...}`; `-`: no majority |
| XNLI | `xnli.dev.tsv`, `xnli.test.tsv` | header with language, gold_label, sentence1, sentence2 |
| others | `*.tsv` | header with premise, hypothesis, label |
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from service.errors import InputError
from training.data.lines import BrokenLines, read_lines
from training.data.tsv import read_header, read_tsv

LABELS = ("entailment", "neutral", "contradiction")


@dataclass(frozen=True, slots=True)
class Inference:
    """A premise, a hypothesis, and how they stand to each other: one of `LABELS`."""

    premise: str
    hypothesis: str
    label: str


def read_inference(
    path: Path,
    broken: BrokenLines,
    *,
    language: str | None = None,
    left_out: Counter[str] | None = None,
) -> Iterator[Inference]:
    """Yield the labelled pairs of `path`, whichever of the formats it has.

    Args:
        path: `.jsonl` or `.tsv`, gzip or not.
        broken: Takes the broken lines.
        language: Rows of this language only, in files with a column for it.
        left_out: Takes the count of each label that is not one of `LABELS`; rows without a majority
            and sets with two labels are no broken lines.

    Raises:
        InputError: The format is another, or a broken line is refused.
    """
    counts = left_out if left_out is not None else Counter()
    name = path.name.removesuffix(".gz")
    rows = _read_jsonl(path, broken) if name.endswith(".jsonl") else _read_tsv(path, broken)
    for row_language, inference in rows:
        if language is not None and row_language not in (None, language):
            continue
        if inference.label in LABELS:
            yield inference
        else:
            counts[inference.label] += 1


def _read_jsonl(path: Path, broken: BrokenLines) -> Iterator[tuple[str | None, Inference]]:
    for number, line in enumerate(read_lines(path, broken), start=1):
        if line is None:
            continue  # counted when it was read
        try:
            row = json.loads(line)
            inference = Inference(
                _text(row, "sentence1"), _text(row, "sentence2"), _text(row, "gold_label")
            )
        except (json.JSONDecodeError, TypeError, KeyError) as error:
            broken.add(path, number, f"no inference example: {error}")
            continue
        yield None, inference


def _text(row: object, key: str) -> str:
    value = row[key] if isinstance(row, dict) else None
    if not isinstance(value, str):
        raise TypeError(f"{key} is no text")
    return value


def _read_tsv(path: Path, broken: BrokenLines) -> Iterator[tuple[str | None, Inference]]:
    header = read_header(path)
    if {"language", "gold_label"} <= set(header):
        columns = ("sentence1", "sentence2", "gold_label", "language")
        for first, second, label, language in read_tsv(path, columns, broken):
            yield language, Inference(first, second, label)
    elif {"premise", "hypothesis", "label"} <= set(header):
        for first, second, label in read_tsv(path, ("premise", "hypothesis", "label"), broken):
            yield None, Inference(first, second, label)
    else:
        raise InputError(
            f"{path}:1: no format of natural language inference has the columns "
            f"{', '.join(header)}.",
            remedy="Give `language, gold_label, sentence1, sentence2` or "
            "`premise, hypothesis, label`.",
        )
