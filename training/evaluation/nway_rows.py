"""Rows of an n-way source as a test: sentences that are translations of one another."""

from __future__ import annotations

from collections.abc import Sequence

from service.errors import InputError
from training.data.folder import DataFolder
from training.data.lines import BrokenLines
from training.data.nway import find_nway, read_nway

Rows = tuple[int, ...]
"""From the first, up to but not with the second."""


def check_rows(rows: Rows) -> None:
    """Refuse what is no range of rows.

    Raises:
        ValueError: It is not two numbers, the smaller one first.
    """
    if len(rows) != 2 or not 0 <= rows[0] < rows[1]:
        raise ValueError("rows are two numbers, from and below: rows=700,996")


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
