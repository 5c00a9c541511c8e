"""Labelled text of several languages, in the form that classification is measured on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from service.errors import InputError
from training.data.folder import DataFolder
from training.data.lines import BrokenLines
from training.data.tsv import read_header, read_tsv


@dataclass(frozen=True, slots=True)
class Document:
    """A labelled text.

    Attributes:
        text: A sentence or a document.
        label: Its class.
        key: The same for translations of one text; one that no other text has where the set does
            not say.
    """

    text: str
    label: str
    key: str


@dataclass(frozen=True, slots=True)
class LabelledSet:
    """The texts of one language.

    Attributes:
        train: What classifiers may be fitted on.
        test: What is only measured on.
    """

    train: list[Document]
    test: list[Document]


def read_labelled_sets(
    folder: DataFolder, sets: Sequence[str], languages: Sequence[str], *, column: str = "label"
) -> dict[str, LabelledSet]:
    """Return the texts of each language, with the labels that all of them have.

    Args:
        folder: The data folder: `eval/<set>/<lang>.train.tsv(.gz)` and `.dev.`; a set without a
            file to measure on gives its texts to fit on for that, which then share no key.
        sets: Names of sets whose labels mean the same. The first that has a language gives it.
        languages: Those that are due.
        column: That the labels stand in.

    Raises:
        InputError: A language is in none of the sets, a file has no such column, or fewer than
            two labels are in all languages.
    """
    found = {language: _read_language(folder, sets, language, column) for language in languages}
    common = set.intersection(
        *({document.label for document in texts.train} for texts in found.values())
    )
    if len(common) < 2:
        raise InputError(
            f"{', '.join(languages)} have fewer than two labels in common in {', '.join(sets)}.",
            field="sets",
            remedy="Name other languages or another set.",
        )
    return {
        language: LabelledSet(
            [document for document in texts.train if document.label in common],
            [document for document in texts.test if document.label in common],
        )
        for language, texts in found.items()
    }


def spread(documents: Sequence[Document], *, seed: int) -> list[Document]:
    """Return `documents` in an order drawn by `seed`, which is the same for translations."""
    keys = sorted({document.key for document in documents})
    drawn = np.random.default_rng(seed).permutation(len(keys))
    place = {keys[int(i)]: number for number, i in enumerate(drawn)}
    return sorted(documents, key=lambda document: place[document.key])


def _read_language(
    folder: DataFolder, sets: Sequence[str], language: str, column: str
) -> LabelledSet:
    for name in sets:
        train = _find(folder, name, f"{language}.train.tsv")
        if train is not None:
            dev = _find(folder, name, f"{language}.dev.tsv")
            return LabelledSet(_read(train, column), [] if dev is None else _read(dev, column))
    raise InputError(
        f"None of {', '.join(f'{folder.root}/eval/{name}' for name in sets)} has labelled text in "
        "this language.",
        field="languages",
        given=language,
        remedy="Files are named `<lang>.train.tsv(.gz)` and `<lang>.dev.tsv(.gz)`, header "
        "`text label`.",
    )


def _find(folder: DataFolder, name: str, file: str) -> Path | None:
    paths = folder.evaluation_files(name, f"{file}*")
    return paths[0] if paths else None


def _read(path: Path, column: str) -> list[Document]:
    header = read_header(path)
    keyed = "id" in header
    columns = ("text", column, "id") if keyed else ("text", column)
    rows = read_tsv(path, columns, BrokenLines("refuse"))
    return [
        Document(row[0], row[1], row[2] if keyed else f"{path.name}:{number}")
        for number, row in enumerate(rows)
    ]
