"""Encoders that give a vector a token, and the seam between them and the sentence vector."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from training.data.batches import Sentences


@dataclass(frozen=True, slots=True)
class States:
    """What an encoder says of each token.

    Attributes:
        vectors: float32 [B, S, D]; rows of pads hold anything finite.
        mask: bool [B, S], False at pads.
    """

    vectors: Tensor
    mask: Tensor


@dataclass(frozen=True, slots=True)
class Encoded:
    """What an encoder hands to a decoder.

    Attributes:
        vectors: float32 [B, D], of the sentences.
        states: Of their tokens; None where the vectors are a mean over several languages.
    """

    vectors: Tensor
    states: States | None = None


class SentenceEncoder(nn.Module):
    """A token encoder and a sentence vector put together.

    Args:
        tokens: forward(ids int64 [B, S], mask bool [B, S]) -> States. Pads must not change the
            states of tokens.
        sentence_vector: forward(States) -> [B, D]. Pads must not change it.
        padding_id: What fills the rectangle; any known id does.
    """

    def __init__(
        self, tokens: nn.Module, sentence_vector: nn.Module, *, padding_id: int = 0
    ) -> None:
        super().__init__()
        self.tokens = tokens
        self.sentence_vector = sentence_vector
        self.padding_id = padding_id

    def forward(self, sentences: Sentences) -> Tensor:
        """Return the vectors [B, D] of `sentences`."""
        ids, mask = sentences.padded(self.padding_id)
        return self.rectangle(ids, mask)

    def encode(self, sentences: Sentences) -> Encoded:
        """Return the vectors [B, D] of `sentences` together with the states behind them."""
        ids, mask = sentences.padded(self.padding_id)
        states: States = self.tokens(ids, mask)
        return Encoded(self.sentence_vector(states), states)

    def rectangle(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Return vectors [B, D] of ids int64 [B, S], mask bool [B, S]; what is exported."""
        vectors: Tensor = self.sentence_vector(self.tokens(ids, mask))
        return vectors


def encode_by_length(encoder: nn.Module, sentences: Sentences, *, groups: int = 4) -> Tensor:
    """Return the vectors [B, D] of `sentences`, encoded in groups of like length.

    Where a batch's sentences are drawn at random, as ranking among them needs it, one long sentence
    would pad all the others.

    Args:
        encoder: Sentences to vectors.
        sentences: B of any lengths.
        groups: How many; more of them pad less and compute less at a time.
    """
    if len(sentences) < groups:
        whole: Tensor = encoder(sentences)
        return whole
    order = sentences.lengths.argsort()
    vectors = torch.cat([encoder(sentences.rows(part)) for part in order.tensor_split(groups)])
    return vectors[order.argsort()]
