"""Pairs of sentences that people have scored, in batches of like length."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import torch
from torch import Tensor

from service.text.tokenizer import Tokenizer
from training.data.batches import Sentences
from training.data.scored_pairs import ScoredPairs
from training.data.tokens import tokenize

_DRAWN = 8
"""Times as many pairs are drawn as a batch has; those of like length are taken of them."""


@dataclass(frozen=True, slots=True)
class ScoredBatch:
    """B pairs of one language.

    Attributes:
        sentences: The 2 B sentences: all first ones, then the second ones in the same order.
        scores: float32 [B]; the higher, the more alike.
    """

    sentences: Sentences
    scores: Tensor

    def to(self, device: torch.device) -> Self:
        """Return a copy on `device`."""
        return type(self)(self.sentences.to(device), self.scores.to(device))


class ScoredBatches:
    """Makes the batch of any number; languages take turns.

    Args:
        pairs: Of each language, one at least.
        tokenizer: Of their sentences.
        size: Pairs of a batch.
        longest: Tokens that a sentence is cut to.
        seed: Of what is drawn.
    """

    def __init__(
        self,
        pairs: Sequence[ScoredPairs],
        tokenizer: Tokenizer,
        *,
        size: int,
        longest: int,
        seed: int,
    ) -> None:
        self._languages = [
            (
                tokenize([*of.first, *of.second], tokenizer, max_tokens=longest),
                np.asarray(of.scores, dtype=np.float32),
            )
            for of in pairs
        ]
        self._size = size
        self._longest = longest
        self._seed = seed

    def batch(self, number: int) -> ScoredBatch:
        """Return the batch of that number, the same each time."""
        random = np.random.default_rng([self._seed, number])
        tokens, scores = self._languages[number % len(self._languages)]
        drawn = random.permutation(len(scores))[: _DRAWN * self._size]
        lengths = tokens.lengths
        longer = np.maximum(lengths[drawn], lengths[drawn + len(scores)])
        drawn = drawn[np.argsort(longer, kind="stable")]
        first = int(random.integers(max(1, len(drawn) - self._size + 1)))
        rows = drawn[first : first + self._size]
        both = np.concatenate([rows, rows + len(scores)])
        return ScoredBatch(
            Sentences.numbered(tokens, both, longest=self._longest),
            torch.from_numpy(scores[rows]),
        )
