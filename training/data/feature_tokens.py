"""The feature rows of every sentence: words by number, and the features of each word once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

from service.text.vocabulary import NgramTokenizer, feature_rows
from training.data.tokens import TokenTable


class SentenceIds(Protocol):
    """The ids of numbered sentences; a `TokenTable` is one."""

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """Tokens of each sentence."""
        ...

    def gather(
        self, sentences: npt.NDArray[np.int64], *, longest: int
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return ids [N, ...] in one row and lengths [B] of `sentences` [B], cut to `longest`."""
        ...


@dataclass(frozen=True, slots=True)
class FeatureTable:
    """Sentences of words, and words of features.

    Attributes:
        words: The word numbers of each sentence.
        features: int32 [words, F], padded with 0 on the right.
    """

    words: TokenTable
    features: npt.NDArray[np.int32]

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """Words of each sentence."""
        return self.words.lengths

    def gather(
        self, sentences: npt.NDArray[np.int64], *, longest: int
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return ids [N, F] and lengths [B] of `sentences` [B]; F is the most that one needs."""
        numbers, lengths = self.words.gather(sentences, longest=longest)
        rows = self.features[numbers]
        used = np.flatnonzero(rows.any(0))
        width = int(used[-1]) + 1 if len(used) else 1
        return rows[:, :width].astype(np.int64), lengths

    def save(self, path: Path) -> None:
        """Write the table to `path` (npz)."""
        with path.open("wb") as file:
            np.savez(file, ids=self.words.ids, offsets=self.words.offsets, features=self.features)

    @classmethod
    def load(cls, path: Path) -> FeatureTable:
        """Read what `save` wrote."""
        with np.load(path) as arrays:
            return cls(TokenTable(arrays["ids"], arrays["offsets"]), arrays["features"])


def tokenize_features(
    texts: Sequence[str], tokenizer: NgramTokenizer, *, longest: int
) -> FeatureTable:
    """Return the feature rows of `texts`, cut to `longest` words each."""
    numbers: dict[str, int] = {}
    sentences = [
        [numbers.setdefault(word, len(numbers)) for word in tokenizer.words(text)[:longest]]
        for text in texts
    ]
    ids = np.fromiter((number for words in sentences for number in words), dtype=np.int32)
    offsets = np.concatenate([[0], np.cumsum([len(words) for words in sentences])])
    return FeatureTable(
        TokenTable(ids, offsets.astype(np.int64)),
        feature_rows([tokenizer.features(word) for word in numbers]),
    )
