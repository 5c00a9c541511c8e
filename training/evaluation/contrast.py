"""Pairs of sentences that differ in one thing alone: is the translation of each the nearer one?

Word order, numbers, negation and names, in `contrast.tsv`, which was written for this. A statement
in one language stands against its English and the English of its opposite, and the other way; who
only knows which words occur guesses at the order, and who weighs small words little confounds an
opposite with its statement.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from service.errors import InputError
from service.inference.session import Vectors
from training.data.folder import DataFolder
from training.data.tsv import read_all, read_header
from training.evaluation.figures import Figure, mean_figure
from training.evaluation.models import SentenceModel, vectors_of

NAME = "contrast"

_PAIRS = Path(__file__).with_name("contrast.tsv")
_PLACES = ("kind", "item", "side")
_PIVOT = "en"


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """What may be changed with `--set`."""

    languages: tuple[str, ...] = ()  # the model's where none
    path: Path = _PAIRS  # header kind, item, side, then languages; sides a and b alternate

    def measure(self, model: SentenceModel, _: Callable[[], DataFolder]) -> list[Figure]:
        """Return the part of right answers, a figure for each kind, in the mean of the languages.

        Raises:
            InputError: The file has no column of any of the languages, or of English, or a side
                without the other.
        """
        header = read_header(self.path)
        wanted = self.languages or tuple(model.languages)
        chosen = [name for name in header if name in wanted and name not in (*_PLACES, _PIVOT)]
        if not chosen or _PIVOT not in header:
            raise InputError(
                f"{self.path} compares {', '.join(header[len(_PLACES) :])} with English; none of "
                f"{', '.join(wanted)}.",
                field="--languages",
            )
        rows = read_all(self.path, ("kind", _PIVOT, *chosen))
        if len(rows) % 2:
            raise InputError(f"{self.path} has a side without the other: sides a and b alternate.")
        kinds = np.array([row[0] for row in rows[::2]])
        pivot = vectors_of(model, [row[1] for row in rows], _PIVOT, unit=True)
        right: dict[str, dict[str, float]] = defaultdict(dict)
        for column, language in enumerate(chosen, start=2):
            vectors = vectors_of(model, [row[column] for row in rows], language, unit=True)
            told = told_apart(vectors, pivot)
            for kind in dict.fromkeys(kinds):
                right[kind][language] = 100.0 * float(told[kinds == kind].mean())
        return [
            mean_figure(
                NAME,
                f"{self.path.name}, {int((kinds == kind).sum())} pairs a language",
                f"{kind}, told apart, %",
                by_language,
            )
            for kind, by_language in right.items()
        ]


def told_apart(vectors: Vectors, pivot: Vectors) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    """Return of each pair which of four comparisons are right, bool [pairs, 4]; 2 are by chance.

    Each side in either language: is its own translation nearer than that of the other side?

    Args:
        vectors: float32 [2 pairs, D], unit vectors; two sides of a pair after one another.
        pivot: The same in English.
    """
    first, second = vectors[::2], vectors[1::2]
    one, other = pivot[::2], pivot[1::2]

    def cosine(left: Vectors, right: Vectors) -> Vectors:
        products: Vectors = (left * right).sum(axis=1)
        return products

    return np.column_stack(
        [
            cosine(first, one) > cosine(first, other),
            cosine(second, other) > cosine(second, one),
            cosine(first, one) > cosine(second, one),
            cosine(second, other) > cosine(first, other),
        ]
    )
