"""Translation batches: one training path each, to a budget, of sentences of like length."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from service.errors import InputError
from training.data.batches import Sentences, State
from training.data.parallel_rows import ParallelRows, without_long
from training.data.tokens import TokenTable
from training.data.translation import TranslationBatch
from training.paths import Mixture, TrainingPath


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchLimits:
    """Where a batch ends and which sentences are left out.

    Attributes:
        tokens: Of a batch, pads included: rows x the longest sentence x languages of the path.
        sentences: Rows of a batch; as many as the tokens allow where None.
        longest: Tokens of a sentence; one that is longer is left out.
        window: Rows that are sorted by length together. More: less padding; fewer: more chance.
    """

    tokens: int
    sentences: int | None = None
    longest: int = 60
    window: int = 8192


def translation_batch(
    path: TrainingPath, rows: npt.NDArray[np.int64], tokens: TokenTable
) -> TranslationBatch:
    """Return the batch of `rows`, int64 [B, languages of the path], sentence numbers."""
    sentences = {}
    for language, numbers in zip(path.languages, rows.T, strict=True):
        longest = int(tokens.lengths[numbers].max())
        sentences[language] = Sentences.numbered(tokens, numbers, longest=longest)
    return TranslationBatch(
        {language: sentences[language] for language in path.sources},
        {language: sentences[language] for language in path.targets},
    )


class TranslationBatches:
    """Draws homogeneous mini-batches: a path by its coefficient, then its next rows.

    "To obtain efficient training, we use homogeneous mini-batches, ie. the number of encoders and
    decoders is constant" (Schwenk & Douze 2017, section 4.2). Each path walks through all rows
    that have its languages before any comes again. Everything that is drawn is a function of the
    seed and the number of batches drawn, so a few counters are all there is to keep.

    Args:
        rows: Sentences that mean the same.
        tokens: Their ids; from one tokenizer for all or from one a language.
        mixture: The paths and how often each is gone.
        limits: Where a batch ends.
        seed: Of everything that is drawn.

    Raises:
        InputError: A path has no row with all of its languages.
    """

    def __init__(
        self,
        rows: ParallelRows,
        tokens: TokenTable,
        mixture: Mixture,
        *,
        limits: BatchLimits,
        seed: int,
    ) -> None:
        self._tokens = tokens
        self._mixture = mixture
        self._seed = seed
        self._drawn = 0
        kept = without_long(rows, tokens, longest=limits.longest)
        self._walks = [
            _Walk(_some(kept, path), tokens, limits, seed=(seed, number))
            for number, path in enumerate(mixture.paths)
        ]

    def draw(self) -> TranslationBatch:
        """Return the next batch."""
        random = np.random.default_rng((self._seed, len(self._walks), self._drawn))
        number = int(random.choice(len(self._walks), p=self._mixture.shares))
        path, rows = self._mixture.paths[number], self._walks[number].next()
        self._drawn += 1
        return translation_batch(path, rows, self._tokens)

    def state_dict(self) -> State:
        """Return how many batches were drawn, in all and from the round of each path."""
        places = [(walk.round, walk.place) for walk in self._walks]
        return {"drawn": self._drawn, "places": torch.tensor(places)}

    def load_state_dict(self, state: State) -> None:
        """Go on from where `state_dict` was taken."""
        drawn, places = state["drawn"], state["places"]
        if not isinstance(drawn, int) or not isinstance(places, Tensor):
            raise TypeError("not the state of these batches; this is a bug")
        self._drawn = drawn
        for walk, (number, place) in zip(self._walks, places.tolist(), strict=True):
            walk.go_to(number, place)


def _some(rows: ParallelRows, path: TrainingPath) -> npt.NDArray[np.int64]:
    """Return the rows of `path`; refuse where there are none."""
    complete = rows.complete(path.languages)
    if not len(complete):
        raise InputError(
            f"No row of the training text has all of {', '.join(path.languages)}.",
            field="languages",
            given=str(path),
            remedy="Add such text, or name other languages.",
        )
    return complete


class _Walk:
    """Walks through the rows of one path, round after round, in batches of like length.

    Args:
        rows: int64 [rows, languages], sentence numbers.
        tokens: For the lengths.
        limits: Where a batch ends.
        seed: Of the order.
    """

    def __init__(
        self,
        rows: npt.NDArray[np.int64],
        tokens: TokenTable,
        limits: BatchLimits,
        *,
        seed: tuple[int, int],
    ) -> None:
        self.rows = rows
        self.round = 0
        self.place = 0
        self._longest = tokens.lengths[rows].max(1)
        self._limits = limits
        self._seed = seed
        self._batches: list[npt.NDArray[np.int64]] | None = None

    def go_to(self, number: int, place: int) -> None:
        """Go to a batch of a round."""
        self.round, self.place, self._batches = number, place, None

    def next(self) -> npt.NDArray[np.int64]:
        """Return the rows of the next batch."""
        if self._batches is not None and self.place == len(self._batches):
            self.go_to(self.round + 1, 0)
        if self._batches is None:
            self._batches = self._cut()
            if self.place == len(self._batches):  # the state was taken at the end of a round
                self.go_to(self.round + 1, 0)
                self._batches = self._cut()
        chosen = self._batches[self.place]
        self.place += 1
        return self.rows[chosen]

    def _cut(self) -> list[npt.NDArray[np.int64]]:
        """Return the round's batches as row numbers."""
        random = np.random.default_rng((*self._seed, self.round))
        order = random.permutation(len(self.rows))
        batches: list[npt.NDArray[np.int64]] = []
        for start in range(0, len(order), self._limits.window):
            window = order[start : start + self._limits.window]
            batches += self._cut_window(window[np.argsort(self._longest[window], kind="stable")])
        return [batches[i] for i in random.permutation(len(batches))]

    def _cut_window(self, window: npt.NDArray[np.int64]) -> list[npt.NDArray[np.int64]]:
        """Return `window`, sorted by length, in batches that keep to the limits."""
        lengths = self._longest[window] * self.rows.shape[1]
        most = self._limits.sentences or len(window)
        batches, start = [], 0
        while start < len(window):
            # The cost of the first n rows, the nth being the longest, grows with n.
            costs = lengths[start : start + most] * np.arange(1, min(most, len(window) - start) + 1)
            size = max(1, int(np.searchsorted(costs, self._limits.tokens, side="right")))
            batches.append(window[start : start + size])
            start += size
        return batches
