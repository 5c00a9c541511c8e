"""Batches for systems that translate: the same sentences in several languages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch

from training.data.batches import Sentences


@dataclass(frozen=True, slots=True)
class TranslationBatch:
    """B sentences, each in every source and every target language of one training path.

    Row i is the same sentence in all of them. 1:1 has one source and one target, M:1 several
    sources, 1:N several targets (Schwenk & Douze 2017, 3.1).

    Attributes:
        sources: Language -> B sentences for the encoder, without marks of begin and end.
        targets: Language -> B sentences for the decoder, without marks of begin and end.
    """

    sources: Mapping[str, Sentences]
    targets: Mapping[str, Sentences]

    @property
    def words(self) -> int:
        """Tokens of all languages."""
        sides = (*self.sources.values(), *self.targets.values())
        return sum(int(side.ids.shape[0]) for side in sides)

    def part(self, rows: range) -> TranslationBatch:
        """Return consecutive `rows`, in all languages."""
        return TranslationBatch(
            {language: side.part(rows) for language, side in self.sources.items()},
            {language: side.part(rows) for language, side in self.targets.items()},
        )

    def to(self, device: torch.device) -> TranslationBatch:
        """Return a copy on `device`."""
        return TranslationBatch(
            {language: side.to(device) for language, side in self.sources.items()},
            {language: side.to(device) for language, side in self.targets.items()},
        )
