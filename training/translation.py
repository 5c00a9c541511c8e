"""Systems that learn sentence vectors by translating from them.

    sentences -> encoder of their language -> vectors -> mean of the other sources -> decoder
                                                 \\-> objectives over pairs of vectors

One encoder for all languages or one a language, and decoders alike; which languages go in and come
out of a batch is the training path's affair (`training.paths`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from torch import Tensor, nn

from training.data.translation import TranslationBatch
from training.decoders.targets import Predictions
from training.system import Losses

SHARED = "*"
"""The language of a part that serves them all."""

Closeness = Callable[[Tensor, Tensor], Tensor]
"""(vectors [B, D], vectors of the same sentences in another language [B, D]) -> one number."""

TranslationObjective = Callable[[Predictions], Tensor]
"""What a decoder says of its target -> one number."""

ModuleTerm = Callable[[nn.Module], Tensor]
"""(the encoders) -> one number: a term over weights alone."""


@dataclass(frozen=True, slots=True)
class WeightedTerm:
    """An objective over vectors of two languages, or over weights, and its part in the sum."""

    term: Closeness
    weight: float = 1.0


class ByLanguage(nn.Module):
    """One module a language, or one for all under `SHARED`.

    Args:
        parts: Language, or `SHARED`, -> module. Languages may name the same module.
    """

    def __init__(self, parts: Mapping[str, nn.Module]) -> None:
        super().__init__()
        self.parts = nn.ModuleDict(dict(parts))

    def of(self, language: str) -> nn.Module:
        """Return the module of `language`."""
        return self.parts[SHARED if SHARED in self.parts else language]


class TranslationSystem(nn.Module):
    """Encoders and decoders put together.

    Each source is encoded once. A target is decoded from the mean of the sources other than its
    own language (`training.paths` says what comes of that rule); its translation loss is one term
    of the sum, named `translation`. `closeness` terms are taken over each pair of sources.

    Args:
        encoders: Of `SentenceEncoder`s.
        decoders: forward(Encoded, Sentences, language) -> Predictions.
        translation: What is made small of the predictions.
        closeness: By name, over the vectors of two sources.
    """

    def __init__(
        self,
        encoders: ByLanguage,
        decoders: ByLanguage,
        *,
        translation: TranslationObjective,
        closeness: Mapping[str, WeightedTerm] | None = None,
    ) -> None:
        super().__init__()
        self.encoders = encoders
        self.decoders = decoders

    def forward(self, batch: TranslationBatch) -> Losses:
        """Return the weighted losses of `batch`."""
        raise NotImplementedError
