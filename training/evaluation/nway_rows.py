"""Rows of an n-way source as a test: sentences that are translations of one another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from service.errors import InputError
from service.inference.session import Vectors
from training.data.folder import DataFolder
from training.data.lines import BrokenLines
from training.data.nway import find_nway, read_nway
from training.evaluation.models import SentenceModel, require_languages, vectors_of

Rows = tuple[int, ...]
"""From the first, up to but not with the second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NWayRows:
    """What protocols on such rows have in common."""

    source: str = "ntrex"  # an n-way source under parallel/
    rows: Rows = (0, 10_000_000)  # from, below
    languages: tuple[str, ...] = ()  # the model's where none

    def __post_init__(self) -> None:
        if len(self.rows) != 2 or not 0 <= self.rows[0] < self.rows[1]:
            raise ValueError("rows are two numbers, from and below: rows=700,996")

    def read(
        self, model: SentenceModel, folder: DataFolder, *, least: int = 2
    ) -> dict[str, list[str]]:
        """Return the sentences of each language, line i of all the same one.

        Args:
            model: Whose languages they are where none are named.
            folder: The data folder.
            least: How many languages there must be.

        Raises:
            NotFoundError: There is no such source.
            InputError: A language is missing, or there are too few of them or of rows.
        """
        languages = require_languages(model, self.languages, least=least)
        return read_rows(folder, self.source, languages, self.rows)


def vectors_by_language(
    model: SentenceModel, columns: Mapping[str, Sequence[str]], *, unit: bool = True
) -> dict[str, Vectors]:
    """Return the vectors of each language's sentences, float32 [rows, D].

    Args:
        model: What is measured.
        columns: The sentences of each language.
        unit: Whether they are scaled to length 1, or as the model gives them.
    """
    return {
        language: vectors_of(model, texts, language, unit=unit)
        for language, texts in columns.items()
    }


def read_rows(
    folder: DataFolder, source: str, languages: Sequence[str], rows: Rows
) -> dict[str, list[str]]:
    """Return the sentences of each language, line i of all the same one.

    Rows that lack a language are left out, and so are those of which a sentence was there before:
    the search counts any other sentence than the row's own as an error (Schwenk & Douze 2017,
    section 3: "makes only sense when there are no duplicate sentences in the corpus").

    Args:
        folder: The data folder.
        source: Its name under parallel/.
        languages: All of them in every row.
        rows: From the first, up to but not with the second.

    Raises:
        NotFoundError: There is no such source.
        InputError: It is no n-way source, lacks a language, or has fewer than two such rows.
    """
    path = folder.source(source)
    here = find_nway(path)
    missing = [language for language in languages if language not in here]
    if missing:
        has = f"it has {', '.join(here)}" if here else "its files are pairs, not n-way rows"
        raise InputError(
            f"{path} has no {', '.join(missing)}: {has}.",
            field="languages",
            given=",".join(languages),
            remedy="Name other languages, or another source: --set source=NAME.",
        )
    table = read_nway(path, languages=languages, broken=BrokenLines("refuse"))
    columns: dict[str, list[str]] = {language: [] for language in languages}
    seen: dict[str, set[str]] = {language: set() for language in languages}
    cells = zip(*(table.columns[language] for language in languages), strict=True)
    for number, row in enumerate(cells):
        if not rows[0] <= number < rows[1] or not all(row):
            continue
        named = dict(zip(languages, row, strict=True))
        if any(text in seen[language] for language, text in named.items()):
            continue
        for language, text in named.items():
            columns[language].append(text)
            seen[language].add(text)
    if len(columns[languages[0]]) < 2:
        raise InputError(
            f"{path} has fewer than two rows with {', '.join(languages)} from {rows[0]} to "
            f"{rows[1]}; it has {len(table):,} in all.",
            field="rows",
        )
    return columns
