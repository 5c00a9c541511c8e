r"""Semantic textual similarity in the forms it is published in; scores are 0 .. 5.

| set | files | a line |
|---|---|---|
| STS benchmark | `sts-train.csv`, `sts-dev.csv`, `sts-test.csv` | genre, file, year, number, score, sentence 1, sentence 2, ...; by tabs, no header |
| SemEval STS 2012-2017 | `STS.input.NAME.txt` beside `STS.gs.NAME.txt` | two sentences by a tab; a score, empty where the pair was not judged |
"""  # noqa: E501

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from training.data.labelled import ScoredPair
from training.data.lines import BrokenLines, read_lines


def read_sts_benchmark(path: Path, broken: BrokenLines) -> Iterator[ScoredPair]:
    """Yield the pairs of a split of the STS benchmark; licence columns at the end are left out."""
    for number, line in enumerate(read_lines(path, broken), start=1):
        if line is None:
            continue  # counted when it was read
        columns = line.split("\t")
        if len(columns) < 7:
            broken.add(path, number, f"{len(columns)} columns where 7 or more are due")
            continue
        score = _score(columns[4])
        if score is None:
            broken.add(path, number, f"the score is {columns[4]!r}, not a number of 0 .. 5")
            continue
        yield ScoredPair(columns[5].strip(), columns[6].strip(), score)


def read_semeval_sts(pairs: Path, broken: BrokenLines) -> Iterator[ScoredPair]:
    """Yield the judged pairs of one SemEval set.

    Args:
        pairs: `STS.input.NAME.txt`; the scores lie beside it.
        broken: Takes the broken lines. Files of unequal length are left out whole.
    """
    gold = pairs.with_name(pairs.name.replace("STS.input.", "STS.gs.", 1))
    lines, scores = read_lines(pairs, broken), read_lines(gold, broken)
    if len(lines) != len(scores):
        reason = f"{len(lines)} lines where {gold.name} has {len(scores)}"
        broken.add(pairs, 0, reason, lines=max(len(lines), len(scores)))
        return
    for number, (line, given) in enumerate(zip(lines, scores, strict=True), start=1):
        if line is None or given is None or not given.strip():
            continue  # counted when it was read, or not judged
        first, tab, rest = line.partition("\t")
        score = _score(given)
        if not tab or score is None:
            broken.add(pairs, number, "no two sentences with a score of 0 .. 5")
            continue
        yield ScoredPair(first.strip(), rest.partition("\t")[0].strip(), score)


def _score(text: str) -> float | None:
    try:
        score = float(text)
    except ValueError:
        return None
    return score if 0 <= score <= 5 else None
