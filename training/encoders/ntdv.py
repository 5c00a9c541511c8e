"""NTDV: document vectors from layers shared by two frozen translation models.

Li 2021, section 3.2.1. Each language has the encoder of its own translation model; above it come
three layers that both languages share, and only these are trained:

    z = GRU(encoder states)                                                (the first)
    U_i = softmax(z W_i^Q (z W_i^K)^T / sqrt(d_h)) z W_i^V,  i = 1 .. r    (the second, eq. 3.1)
    p_i = mean over time of U_i                                            (eq. 3.2)
    vector = p_1 + .. + p_r, or p_1 .. p_r one after the other             (eq. 3.3-3.4)
    what the frozen decoder attends to = concat(U_1 .. U_r) W              (the third)

The thesis counts "three newly added shared layers" and names the first two; that the third brings
the heads back to the width that the frozen decoder knows is our reading.
"""

from __future__ import annotations

import math

from torch import Tensor, nn

from training.attention import key_bias
from training.data.batches import Sentences
from training.decoders.targets import Predictions
from training.encoders.states import Encoded, States


class ContextHeads(nn.Module):
    """The second shared layer: r heads, each as wide as what it reads.

    Args:
        width: d_h.
        heads: r.
    """

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, heads * width, bias=False)
        self.key = nn.Linear(width, heads * width, bias=False)
        self.value = nn.Linear(width, heads * width, bias=False)
        for part in (self.query, self.key, self.value):
            nn.init.xavier_uniform_(part.weight)

    def forward(self, states: States) -> States:
        """Return concat(U_1 .. U_r), [B, S, r x d_h], of z [B, S, d_h] (eq. 3.1)."""
        batch, steps, width = states.vectors.shape
        query, key, value = (
            part(states.vectors).reshape(batch, steps, self.heads, width).transpose(1, 2)
            for part in (self.query, self.key, self.value)
        )
        scores = query @ key.transpose(-1, -2) / math.sqrt(width) + key_bias(states.mask)
        contexts = scores.softmax(-1).type_as(value) @ value  # [B, r, S, d_h]
        return States(contexts.transpose(1, 2).reshape(batch, steps, -1), states.mask)


class NtdvStates(nn.Module):
    """A frozen encoder with the first two shared layers above it.

    Args:
        frozen: forward(ids, mask) -> States [B, S, C]; of a translation model, see `freeze`.
        gru: C -> d_h, from left to right, the batch first; shared.
        heads: Shared.
    """

    def __init__(self, frozen: nn.Module, gru: nn.GRU, heads: ContextHeads) -> None:
        super().__init__()
        self.frozen = frozen
        self.gru = gru
        self.heads = heads

    def forward(self, ids: Tensor, mask: Tensor) -> States:
        """Return concat(U_1 .. U_r), [B, S, r x d_h]; its mean over time is the context matrix.

        Args:
            ids: int64 [B, S].
            mask: bool [B, S].
        """
        states: States = self.frozen(ids, mask)
        # Pads stand at the end, so a layer that reads from left to right never carries them on.
        hidden, _ = self.gru(states.vectors)
        contexts: States = self.heads(States(hidden, mask))
        return contexts


class SumOfHeads(nn.Module):
    """NV_sum (eq. 3.3): the columns of the context matrix added up.

    Their concatenation NV_con (eq. 3.4) is `MeanPooling` of the states as they are.

    Args:
        pooling: States -> [B, r x d_h], the mean over time (eq. 3.2).
        heads: r.
    """

    def __init__(self, pooling: nn.Module, heads: int) -> None:
        super().__init__()
        self.pooling = pooling
        self.heads = heads

    def forward(self, states: States) -> Tensor:
        """Return [B, d_h]."""
        contexts: Tensor = self.pooling(states)
        return contexts.reshape(contexts.shape[0], self.heads, -1).sum(1)


class ThroughShared(nn.Module):
    """A frozen decoder that attends to what the third shared layer makes of the heads.

    Args:
        shared: r x d_h -> C; shared by both directions.
        decoder: Of a translation model, see `freeze`.
    """

    def __init__(self, shared: nn.Linear, decoder: nn.Module) -> None:
        super().__init__()
        self.shared = shared
        self.decoder = decoder

    def forward(self, encoded: Encoded, target: Sentences, language: str) -> Predictions:
        """Return what the decoder says of `target`.

        Args:
            encoded: With the states [B, S, r x d_h].
            target: B sentences.
            language: In which `target` is.
        """
        if encoded.states is None:
            raise ValueError("a mean of several sources has no states to attend to; this is a bug")
        mixed = States(self.shared(encoded.states.vectors), encoded.states.mask)
        predictions: Predictions = self.decoder(Encoded(encoded.vectors, mixed), target, language)
        return predictions


def freeze(module: nn.Module) -> nn.Module:
    """Return `module`, whose weights no training changes any more.

    It stays in training mode: the GPU's recurrent layers pass gradients through in that mode only.
    """
    for parameter in module.parameters():
        parameter.requires_grad_(False)
    return module
