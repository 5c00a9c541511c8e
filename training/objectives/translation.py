"""Translation cross-entropy: how surprised a decoder is by the right words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

import torch
from torch import Tensor
from torch.nn import functional

from training.data.batches import Sentences
from training.decoders.targets import Predictions


class TranslationObjective(Protocol):
    """A sum over what a decoder says, and what it is to be divided by.

    Apart, since with several processes each has a part of the sum, and the divisor is that of the
    whole batch.
    """

    def total(self, predictions: Predictions) -> Tensor:
        """Return the sum over the predictions at hand."""
        ...

    def units(self, target: Sentences) -> int:
        """Return what the sum over all of `target` is divided by."""
        ...


@dataclass(frozen=True, slots=True)
class TranslationLoss:
    """-log p(t_j | t_1 .. t_j-1; h(s)), averaged.

    Args:
        mean: `sentence`: over a sentence's tokens, then over sentences, as Yu, Li & Oguz 2018
            (section 2.2, L_NMT with its 1 / n_t) have it. `token`: over all tokens of the batch,
            whose exponential is the perplexity. `sum`: a sentence's tokens are added up, and the
            mean is over sentences alone (the cross-entropy of a sentence in Li 2021, eq. 4.21).
        smoothing: Part of the target that is spread evenly over the vocabulary (Szegedy et al.
            2016, section 7); 0.1 in Vaswani et al. 2017 (5.4) and Li 2021 (4.3.1).
    """

    mean: Literal["sentence", "token", "sum"] = "token"
    smoothing: float = 0.0

    def total(self, predictions: Predictions) -> Tensor:
        """Return the sum over sentences of their means, or the sum over tokens."""
        surprise = functional.cross_entropy(
            predictions.logits.float(),
            predictions.answers,
            reduction="none",
            label_smoothing=self.smoothing,
        )  # [M]
        if self.mean != "sentence":
            return surprise.sum()
        lengths = torch.bincount(predictions.sentence, minlength=predictions.sentences)
        return (surprise / lengths[predictions.sentence]).sum()

    def units(self, target: Sentences) -> int:
        """Return the number of sentences, or of tokens with an end to each sentence."""
        if self.mean == "token":
            return int(target.ids.shape[0]) + len(target)
        return len(target)
