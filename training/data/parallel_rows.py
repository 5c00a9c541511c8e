"""Sentences that mean the same, a row each; pairs and n-way text alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from training.data.corpus import Corpus

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

    def columns(self, languages: tuple[str, ...]) -> list[int]:
        """Return where `languages` stand."""
        return [self.languages.index(language) for language in languages]


def pair_rows(corpus: Corpus) -> ParallelRows:
    """Return a row a pair of `corpus`."""
    numbers = np.full((len(corpus.pairs), len(corpus.languages)), MISSING, dtype=np.int64)
    for side in (0, 1):
        sentences = corpus.pairs[:, side].astype(np.int64)
        numbers[np.arange(len(numbers)), corpus.language[sentences]] = sentences
    return ParallelRows(corpus.languages, numbers)
