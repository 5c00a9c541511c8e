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
            whose exponential is the perplexity.
    """

    mean: Literal["sentence", "token"] = "token"

    def total(self, predictions: Predictions) -> Tensor:
        """Return the sum over sentences of their means, or the sum over tokens."""
        surprise = functional.cross_entropy(
            predictions.logits.float(), predictions.answers, reduction="none"
        )  # [M]
        if self.mean == "token":
            return surprise.sum()
        lengths = torch.bincount(predictions.sentence, minlength=predictions.sentences)
        return (surprise / lengths[predictions.sentence]).sum()

    def units(self, target: Sentences) -> int:
        """Return the number of sentences, or of tokens with an end to each sentence."""
        if self.mean == "token":
            return int(target.ids.shape[0]) + len(target)
        return len(target)
