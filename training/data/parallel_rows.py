"""Sentences that mean the same, a row each; pairs and n-way text alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from training.data.corpus import Corpus
from training.data.tokens import TokenTable

MISSING = -1


@dataclass(frozen=True, slots=True)
class ParallelRows:
    """Rows of sentences that mean the same.

    Attributes:
        languages: Of the columns.
        numbers: int64 [rows, L], sentence numbers of the corpus; -1 where a language is missing.
    """

    languages: tuple[str, ...]
    numbers: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.numbers)

    def complete(self, languages: Iterable[str]) -> npt.NDArray[np.int64]:
        """Return the rows that have all `languages`, int64 [rows, languages]."""
        numbers = self._columns(languages)
        found: npt.NDArray[np.int64] = numbers[(numbers != MISSING).all(1)]
        return found

    def _columns(self, languages: Iterable[str]) -> npt.NDArray[np.int64]:
        """Return int64 [all rows, languages]; a language that has no column is missing."""
        columns = [
            self.numbers[:, self.languages.index(name)]
            if name in self.languages
            else np.full(len(self), MISSING, dtype=np.int64)
            for name in languages
        ]
        return np.stack(columns, axis=1)


def pair_rows(corpus: Corpus) -> ParallelRows:
    """Return a row a pair of `corpus`."""
    return ParallelRows(corpus.languages, _two_columns(corpus, corpus.pairs.astype(np.int64)))


def joined_rows(corpus: Corpus, pivot: str) -> ParallelRows:
    """Return n-way rows: sentences with the same translation in `pivot` mean the same.

    The corpus holds n-way text as pairs with its pivot, each cleaned on its own; here they come
    together again, and pairs of different sources that share a pivot sentence with them. A second
    translation of a sentence into the same language begins a second row. Pairs without the pivot
    stay rows of two.
    """
    pairs = corpus.pairs.astype(np.int64)
    if pivot not in corpus.languages:
        return pair_rows(corpus)
    with_pivot = corpus.language[pairs[:, 1]] == corpus.languages.index(pivot)
    others, pivots = pairs[with_pivot, 0], pairs[with_pivot, 1]
    languages = corpus.language[others].astype(np.int64)
    again = _occurrence(pivots * len(corpus.languages) + languages)
    keys, row = np.unique(np.stack([pivots, again], axis=1), axis=0, return_inverse=True)
    numbers = np.full((len(keys), len(corpus.languages)), MISSING, dtype=np.int64)
    numbers[:, corpus.languages.index(pivot)] = keys[:, 0]
    numbers[row.ravel(), languages] = others
    return ParallelRows(
        corpus.languages, np.concatenate([numbers, _two_columns(corpus, pairs[~with_pivot])])
    )


def table_rows(columns: Mapping[str, Sequence[str]]) -> tuple[list[str], ParallelRows]:
    """Return the sentences of n-way `columns`, and rows of their numbers.

    Args:
        columns: Language -> sentences, row by row; empty where missing.
    """
    texts: list[str] = []
    size = len(next(iter(columns.values()), ()))
    numbers = np.full((size, len(columns)), MISSING, dtype=np.int64)
    for place, sentences in enumerate(columns.values()):
        present = [row for row, sentence in enumerate(sentences) if sentence.strip()]
        numbers[present, place] = len(texts) + np.arange(len(present))
        texts.extend(sentences[row] for row in present)
    return texts, ParallelRows(tuple(columns), numbers)


def without_long(rows: ParallelRows, tokens: TokenTable, *, longest: int) -> ParallelRows:
    """Return `rows` without sentences of no token or more than `longest`; a copy.

    They are left out rather than cut, since half a sentence is no translation of a whole one.
    """
    lengths = np.append(tokens.lengths, 0)  # the last place is that of MISSING
    usable = (lengths[rows.numbers] > 0) & (lengths[rows.numbers] <= longest)
    numbers = np.where(usable, rows.numbers, MISSING)
    return ParallelRows(rows.languages, numbers[(numbers != MISSING).sum(1) > 1])


def _two_columns(corpus: Corpus, pairs: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    numbers = np.full((len(pairs), len(corpus.languages)), MISSING, dtype=np.int64)
    for side in (0, 1):
        numbers[np.arange(len(pairs)), corpus.language[pairs[:, side]]] = pairs[:, side]
    return numbers


def _occurrence(keys: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return how many of the same key came before each of `keys`."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    begins = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])[: len(keys)])
    sizes = np.diff(np.append(begins, len(keys)))
    counted = np.empty(len(keys), dtype=np.int64)
    counted[order] = np.arange(len(keys)) - np.repeat(begins, sizes)
    return counted
