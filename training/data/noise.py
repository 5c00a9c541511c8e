"""Pairs with noise: to each pair some sentences of the target's language, drawn at random."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from service.errors import InputError
from training.data.batches import CountedDraws, Sentences
from training.data.corpus import Corpus
from training.data.tokens import TokenTable


@dataclass(frozen=True, slots=True)
class NoiseBatch:
    """B pairs of one pair of languages, and K noise sentences for each.

    Attributes:
        languages: Of the sources, and of targets and noise.
        source: B sentences.
        target: Their translations.
        noise: P sentences that the noise is picked from.
        picks: int64 [B, K], numbers of noise sentences.
    """

    languages: tuple[str, str]
    source: Sentences
    target: Sentences
    noise: Sentences
    picks: Tensor

    @property
    def words(self) -> int:
        """Words of sources, targets and noise."""
        return sum(int(side.ids.shape[0]) for side in (self.source, self.target, self.noise))

    def to(self, device: torch.device) -> NoiseBatch:
        """Return a copy on `device`."""
        return NoiseBatch(
            self.languages,
            self.source.to(device),
            self.target.to(device),
            self.noise.to(device),
            self.picks.to(device),
        )


class NoiseBatches(CountedDraws):
    """Draws batches of pairs with noise, walking through all pairs before any comes again.

    A batch holds pairs of one pair of languages; those take turns by chance, in proportion to their
    pairs. All that is drawn is a function of the seed and the number of batches drawn.

    Args:
        corpus: The pairs; those without the pivot are left out.
        tokens: The ids of its sentences, each in its language's vocabulary.
        size: B.
        noise: K, drawn "individually for each training sample and epoch" (Hermann & Blunsom 2013,
            section 4.1).
        pool: P, at least K: sentences that are drawn for a batch, from which each of its pairs has
            K picked. None draws B x K of them, as the paper has it; a pool is many times faster.
        seed: Of everything that is drawn.
        pivot: The language of the sources.

    Raises:
        InputError: No pair has the pivot.
    """

    def __init__(
        self,
        corpus: Corpus,
        tokens: TokenTable,
        *,
        size: int,
        noise: int,
        pool: int | None,
        seed: int,
        pivot: str = "en",
    ) -> None:
        self._tokens = tokens
        self._size = size
        self._noise = noise
        self._pool = pool
        self._seed = seed
        self._pivot = pivot
        self._round: tuple[int, list[tuple[str, npt.NDArray[np.int64]]]] | None = None
        self._pairs = _by_language(corpus, tokens, pivot)
        if not self._pairs:
            raise InputError(
                f"The training text has no pair with {pivot}.",
                field="languages",
                remedy="Add such text, or name other languages.",
            )

    @property
    def pairs(self) -> int:
        """How many pairs a round has."""
        return sum(map(len, self._pairs.values()))

    @property
    def batches(self) -> int:
        """How many batches a round has."""
        return sum(-(-len(pairs) // self._size) for pairs in self._pairs.values())

    def draw(self) -> NoiseBatch:
        """Return the next batch."""
        number, place = divmod(self._drawn, self.batches)
        if self._round is None or self._round[0] != number:
            self._round = (number, self._cut(number))
        language, rows = self._round[1][place]
        random = np.random.default_rng((self._seed, 1, self._drawn))
        targets = self._pairs[language]
        noise, picks = self._draw_noise(random, targets[:, 1], len(rows))
        self._drawn += 1
        return NoiseBatch(
            (self._pivot, language),
            self._sentences(targets[rows, 0]),
            self._sentences(targets[rows, 1]),
            self._sentences(noise),
            torch.from_numpy(picks),
        )

    def _draw_noise(
        self, random: np.random.Generator, sentences: npt.NDArray[np.int64], pairs: int
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return sentence numbers [P] and picks [B, K] among them."""
        if self._pool is None:
            drawn = sentences[random.integers(0, len(sentences), pairs * self._noise)]
            return drawn, np.arange(len(drawn)).reshape(pairs, self._noise)
        drawn = sentences[random.integers(0, len(sentences), self._pool)]
        return drawn, random.integers(0, self._pool, (pairs, self._noise))

    def _cut(self, number: int) -> list[tuple[str, npt.NDArray[np.int64]]]:
        """Return the batches of a round: language and rows of its pairs."""
        random = np.random.default_rng((self._seed, 0, number))
        batches = []
        for language, pairs in self._pairs.items():
            order = random.permutation(len(pairs))
            for start in range(0, len(order), self._size):
                batches.append((language, order[start : start + self._size]))
        return [batches[i] for i in random.permutation(len(batches))]

    def _sentences(self, numbers: npt.NDArray[np.int64]) -> Sentences:
        longest = int(self._tokens.lengths.max())
        return Sentences.numbered(self._tokens, numbers, longest=longest)


def _by_language(
    corpus: Corpus, tokens: TokenTable, pivot: str
) -> dict[str, npt.NDArray[np.int64]]:
    """Return language -> pairs int64 [pairs, 2], the pivot's sentence first, none without words."""
    pairs = corpus.pairs.astype(np.int64)[:, ::-1]
    pairs = pairs[(tokens.lengths[pairs] > 0).all(1)]
    languages = corpus.language[pairs]
    found = {}
    for number, language in enumerate(corpus.languages):
        has = (languages[:, 1] == number) & (languages[:, 0] == corpus.languages.index(pivot))
        if language != pivot and has.any():
            found[language] = pairs[has]
    return found
