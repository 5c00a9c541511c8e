"""Pairs of sentences that people have scored by how alike they are, to fit on.

`eval/<set>/<lang>.*train*.tsv(.gz)`, header `sentence1 sentence2 score`. The other files of the
same sets are measured on, so what they hold is left out.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from service.errors import InputError
from training.data.cleaning import comparison_key
from training.data.folder import DataFolder, evaluation_sentences
from training.data.tsv import read_all
from training.progress import QUIET, Progress

TRAINING_FILES = "*train*.tsv*"


@dataclass(frozen=True, slots=True)
class ScoredPairs:
    """The pairs of a language in a set.

    Attributes:
        set: Its name.
        language: Its code.
        first: [N] sentences.
        second: [N] sentences, each beside one of `first`.
        scores: [N]; the higher, the more alike.
    """

    set: str
    language: str
    first: list[str]
    second: list[str]
    scores: list[float]


def read_scored_pairs(
    folder: DataFolder,
    name: str,
    *,
    languages: Collection[str],
    evaluation: Collection[str],
    progress: Progress = QUIET,
) -> list[ScoredPairs]:
    """Return the training pairs of a set, by file; none where the folder lacks it.

    Args:
        folder: The data folder.
        name: Of the set.
        languages: Files of others are passed over.
        evaluation: Sets whose sentences are left out, their own training files excepted.
        progress: Told how many were.

    Raises:
        InputError: A file lacks a column or holds a score that is no number.
    """
    files = [
        path
        for path in folder.evaluation_files(name, TRAINING_FILES)
        if path.name.split(".")[0] in languages
    ]
    if not files:
        progress.note(f"{name}: no training file in {folder.root}, vectors stay as they are")
        return []
    measured = set(
        map(comparison_key, evaluation_sentences(folder, evaluation, passing=TRAINING_FILES))
    )
    found = []
    for path in files:
        language = path.name.split(".")[0]
        rows = read_all(path, ("sentence1", "sentence2", "score"))
        kept = [row for row in rows if measured.isdisjoint(map(comparison_key, row[:2]))]
        scores = _scores(path, [row[2] for row in kept])
        first, second = [row[0] for row in kept], [row[1] for row in kept]
        found.append(ScoredPairs(name, language, first, second, scores))
        progress.note(
            f"{name}, {language}: {len(kept):,} pairs with scores; "
            f"{len(rows) - len(kept):,} left out, whose sentences are measured on"
        )
    return found


def _scores(path: Path, given: Sequence[str]) -> list[float]:
    try:
        scores = [float(score) for score in given]
    except ValueError as error:
        raise InputError(f"{path}: a score is no number: {error}.") from error
    if not np.isfinite(scores).all() or len(set(scores)) < 2:
        raise InputError(
            f"{path}: {len(scores):,} pairs are of no evaluation set, and their scores are not "
            "two different numbers or more.",
            remedy="Mend the scores, or leave the set out: --set scored=.",
        )
    return scores


def save_scored_pairs(pairs: Sequence[ScoredPairs], path: Path) -> None:
    """Write `pairs` to `path`."""
    path.write_text(json.dumps([asdict(of) for of in pairs]), encoding="utf-8")


def load_scored_pairs(path: Path) -> list[ScoredPairs]:
    """Return what `save_scored_pairs` wrote."""
    return [ScoredPairs(**of) for of in json.loads(path.read_text(encoding="utf-8"))]
