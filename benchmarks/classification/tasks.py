"""The labelled sets: what is fitted on, what is measured on, in which languages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from service.classification.example import Example
from training.data.labelled_rows import read_labelled


@dataclass(frozen=True, slots=True)
class Task:
    """A labelled set in several languages.

    Attributes:
        folder: Below `eval` of the data folder.
        fit_files: Of English, to fit on.
        descriptions: Label -> words for it, for no examples at all; none for pairs.
    """

    folder: str
    fit_files: tuple[str, ...]
    descriptions: Mapping[str, str]

    def fit_examples(self, data: Path, language: str = "en") -> list[Example]:
        """Return the training examples of a language."""
        names = [name.replace("en.", f"{language}.", 1) for name in self.fit_files]
        return [
            example
            for name in names
            for example in read_labelled(data / "eval" / name, language=language)
        ]

    def test_examples(self, data: Path, languages: Sequence[str]) -> dict[str, list[Example]]:
        """Return the development examples of each of `languages` that has any."""
        found = {}
        for code in languages:
            path = data / "eval" / self.folder / f"{code}.dev.tsv.gz"
            if path.exists():
                found[code] = list(read_labelled(path, language=code))
        return found


TASKS = {
    "topic": Task(
        "sib200",
        ("sib200/en.train.tsv.gz",),
        {
            "science/technology": "science, technology, research, computers, physics, biology",
            "travel": "travel, tourism, hotels, flights, visitors, sightseeing",
            "politics": "politics, government, elections, parliament, war, president",
            "sports": "sports, football, athletes, matches, championship",
            "health": "health, medicine, disease, doctors, hospital, patients",
            "entertainment": "entertainment, film, music, television, celebrities",
            "geography": "geography, rivers, mountains, islands, countries, climate",
        },
    ),
    "sentiment": Task(
        "sentiment_umsab",
        ("sentiment_umsab/en.train.tsv.gz",),
        {
            "negative": "terrible, awful, angry, sad, bad, hate",
            "neutral": "news, information, announcement, today, question",
            "positive": "great, wonderful, happy, love, good, excellent",
        },
    ),
    "entailment": Task("xnli", ("nli/en.snli_dev.tsv.gz", "nli/en.snli_test.tsv.gz"), {}),
}


def some_of_each(examples: Sequence[Example], count: int, *, seed: int) -> list[Example]:
    """Return `count` examples of each label, drawn at random; all of a label that has fewer."""
    order = np.random.default_rng(seed).permutation(len(examples))
    taken: dict[tuple[str, ...], int] = {}
    chosen = []
    for row in order.tolist():
        label = examples[row].labels
        if taken.get(label, 0) < count:
            taken[label] = taken.get(label, 0) + 1
            chosen.append(examples[row])
    return chosen
