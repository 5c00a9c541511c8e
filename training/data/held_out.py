"""Rows that are set aside for development, of n-way text and of pairs alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

MOST_ROWS = 4000
"""Of the rows that are not trained on so many are measured, as in Schwenk & Douze 2017, section 4:
"a predefined Dev and Test set (4000 sentences each)"."""

Pair = tuple[str, str, str, str]
"""Sentence, its language, its translation, the translation's language."""


def first_rows(columns: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Return the first `MOST_ROWS` rows of n-way `columns`.

    Args:
        columns: Language -> sentences, row by row; empty where missing.
    """
    return {language: list(column[:MOST_ROWS]) for language, column in columns.items()}


def join_pairs(pairs: Iterable[Pair], languages: Sequence[str]) -> dict[str, list[str]]:
    """Return n-way columns of `pairs`: those with the same second sentence are one row.

    Systems are measured on rows that have several languages, and files of pairs such as Europarl's
    have lines of their own each. Rows with more languages come first; else they stay in order.

    Args:
        pairs: Of all files, the pivot second.
        languages: Of the columns.
    """
    rows: dict[tuple[str, str], dict[str, str]] = {}
    for left, left_language, right, right_language in pairs:
        row = rows.setdefault((right, right_language), {right_language: right})
        row.setdefault(left_language, left)
    fullest = sorted(rows.values(), key=len, reverse=True)
    return first_rows(
        {language: [row.get(language, "") for row in fullest] for language in languages}
    )
