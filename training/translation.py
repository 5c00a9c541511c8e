"""Systems that learn sentence vectors by translating from them.

    sentences -> encoder of their language -> vectors -> mean of the other sources -> decoder
                                                 |
                                                 +-> objectives over pairs of vectors

One encoder for all languages or one a language, and decoders alike; which languages go in and come
out of a batch is the training path's affair (`training.paths`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import cast

import torch
from torch import Tensor, nn

from training.data.translation import TranslationBatch
from training.decoders.targets import Predictions
from training.encoders.states import Encoded, SentenceEncoder
from training.objectives.translation import TranslationObjective
from training.parallel import gather_rows, part, world
from training.system import Losses

SHARED = "*"
"""The language of a part that serves them all."""

Closeness = Callable[[Tensor, Tensor], Tensor]
"""(vectors [B, D], vectors of the same sentences in another language [B, D]) -> one number."""

WeightTerm = Callable[[nn.Module], Tensor]
"""(the encoders) -> one number: a term over weights alone."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What is made small: name -> the objective and its weight. Those of weight 0 are left out.

    Attributes:
        translation: Over what the decoders say.
        translation_weight: Its weight; its term is never left out.
        closeness: Over the vectors of each two sources of a batch.
        weights: Over the encoders' weights.
    """

    translation: TranslationObjective
    closeness: Mapping[str, tuple[Closeness, float]] = field(default_factory=dict)
    weights: Mapping[str, tuple[WeightTerm, float]] = field(default_factory=dict)
    translation_weight: float = 1.0


class TranslationSystem(nn.Module):
    """Encoders and decoders put together.

    Each source is encoded once. A target is decoded from the mean of the vectors of the sources
    other than its own language (`training.paths` says what comes of that rule), or from its own
    where there is no other (an auto-encoder).

    Args:
        encoders: Of `SentenceEncoder`s.
        decoders: Of modules with forward(Encoded, Sentences, language) -> Predictions.
        terms: What is made small.
    """

    def __init__(self, encoders: ByLanguage, decoders: ByLanguage, terms: Terms) -> None:
        super().__init__()
        self.encoders = encoders
        self.decoders = decoders
        self._terms = terms

    def encoder(self, language: str) -> SentenceEncoder:
        """Return the encoder of `language`."""
        return cast(SentenceEncoder, self.encoders.of(language))

    def decode(
        self, encoded: Mapping[str, Encoded], batch: TranslationBatch, language: str
    ) -> Predictions:
        """Return what the decoder of `language` says of its target, given the encoded sources."""
        sources = [name for name in encoded if name != language] or list(encoded)
        given = average([encoded[name] for name in sources])
        predictions: Predictions = self.decoders.of(language)(
            given, batch.targets[language], language
        )
        return predictions

    def forward(self, batch: TranslationBatch) -> Losses:
        """Return the weighted losses of `batch`; `translation` is summed over its targets."""
        whole = len(next(iter(batch.sources.values())))
        own = part(whole)
        # A process without a row of its own goes through the first one for nothing, so that its
        # parameters have gradients to average: zeros.
        mine, share = (batch.part(own), world()) if own else (batch.part(range(1)), 0)
        encoded = {
            language: self.encoder(language).encode(sentences)
            for language, sentences in mine.sources.items()
        }
        objective = self._terms.translation
        # Gradients are averaged over the processes, so each takes its part of the sum times their
        # number: then they are those of one process on the whole batch.
        losses = {
            "translation": torch.stack(
                [
                    objective.total(self.decode(encoded, mine, language))
                    * (self._terms.translation_weight * share / objective.units(target))
                    for language, target in batch.targets.items()
                ]
            ).sum()
        }
        vectors = [gather_rows(one.vectors[: len(own)], whole) for one in encoded.values()]
        for name, (closeness, weight) in self._terms.closeness.items():
            pairs = list(combinations(vectors, 2))
            if weight and pairs:
                losses[name] = weight * torch.stack([closeness(*pair) for pair in pairs]).sum()
        for name, (term, weight) in self._terms.weights.items():
            if weight:
                losses[name] = weight * term(self.encoders)
        return losses


def average(encoded: list[Encoded]) -> Encoded:
    """Return the mean of several sources' vectors; one alone stays as it is, states and all.

    Schwenk & Douze 2017, section 2: "The most straightforward approach is to average the
    embeddings."
    """
    if len(encoded) == 1:
        return encoded[0]
    return Encoded(torch.stack([one.vectors for one in encoded]).mean(0))
