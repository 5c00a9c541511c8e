"""Development figures of systems that translate: perplexity and similarity search error.

Schwenk & Douze 2017, section 4.1: "Performance is measured by perplexity for the decoders and
similarity error at the embedding layer for the encoders."
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import torch
from torch.nn import functional

from training.data.batches import Sentences
from training.data.parallel_rows import ParallelRows, without_long
from training.data.tokens import TokenTable
from training.data.translation_batches import translation_batch
from training.evaluation.retrieval import search_error
from training.objectives.translation import TranslationLoss
from training.paths import Mixture, TrainingPath
from training.translation import TranslationSystem

_ROWS = 64  # of a batch


class TranslationDevelopment:
    """Measures a system on rows that were set aside.

    Args:
        system: What is trained.
        rows: Held-out sentences.
        tokens: Their ids.
        mixture: The paths it is trained on; perplexity is measured along each.
        longest: Tokens; longer sentences are left out.
        device: Where the system is.
    """

    def __init__(
        self,
        system: TranslationSystem,
        rows: ParallelRows,
        tokens: TokenTable,
        mixture: Mixture,
        *,
        longest: int,
        device: torch.device,
    ) -> None:
        self._system = system
        self._tokens = tokens
        self._mixture = mixture
        self._device = device
        self._rows = without_long(rows, tokens, longest=longest)

    @property
    def measured(self) -> tuple[str, ...]:
        """Names of the figures that there are rows for."""
        paths, sources = self._mixture.paths, self._mixture.sources
        there = {
            "perplexity": any(len(self._rows.complete(path.languages)) for path in paths),
            "search_error": len(sources) > 1 and len(self._rows.complete(sources)) > 1,
        }
        return tuple(name for name, rows in there.items() if rows)

    def __call__(self) -> dict[str, float]:
        """Return `perplexity` and, in percent, `search_error`; each only where there are rows."""
        measures = {"perplexity": self._perplexity, "search_error": self._search_error}
        with torch.inference_mode():
            return {name: measures[name]() for name in self.measured}

    def _search_error(self) -> float:
        """Algorithm 1 over all pairs of languages that have an encoder."""
        rows = self._rows.complete(self._mixture.sources)
        columns = {
            language: torch.cat(
                [
                    functional.normalize(
                        self._system.encoder(language)(self._sentences(language, chunk)).float(),
                        dim=1,
                    )
                    for chunk in _chunks(rows[:, place : place + 1])
                ]
            )
            .cpu()
            .numpy()
            for place, language in enumerate(self._mixture.sources)
        }
        return search_error(columns)

    def _perplexity(self) -> float:
        """Return exp of the mean of -log p over all tokens, each path counting alike."""
        means = [mean for path in self._mixture.paths if (mean := self._surprise(path)) is not None]
        # The greatest is as good as infinite, and a finite number can be plotted.
        return math.exp(min(sum(means) / len(means), 80.0))

    def _surprise(self, path: TrainingPath) -> float | None:
        loss = TranslationLoss("token")
        rows = self._rows.complete(path.languages)
        total, units = 0.0, 0
        for chunk in _chunks(rows):
            batch = translation_batch(path, chunk, self._tokens).to(self._device)
            encoded = {
                language: self._system.encoder(language).encode(sentences)
                for language, sentences in batch.sources.items()
            }
            for language, target in batch.targets.items():
                predictions = self._system.decode(encoded, batch, language)
                total += float(loss.total(predictions))
                units += loss.units(target)
        return total / units if units else None

    def _sentences(self, language: str, rows: npt.NDArray[np.int64]) -> Sentences:
        path = TrainingPath((language,), ())
        return translation_batch(path, rows, self._tokens).to(self._device).sources[language]


def _chunks(rows: npt.NDArray[np.int64]) -> Iterator[npt.NDArray[np.int64]]:
    for start in range(0, len(rows), _ROWS):
        yield rows[start : start + _ROWS]
