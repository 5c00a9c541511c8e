"""Recurrent encoders: stacks of layers, each read from left to right or both ways.

Schwenk & Douze 2017, section 4.1: stacked LSTMs (3 x 512, 3 x 1024) and BLSTMs (1 to 3 x 256 or
512). Yu, Li & Oguz 2018, section 2: a BLSTM of 512 with an LSTM of 1024 above it.
"""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from training.encoders.states import States

EMBEDDING_RANGE = 0.1
"""First token vectors are uniform in -0.1 .. 0.1; the papers do not say."""


class RecurrentEncoder(nn.Module):
    """Token ids to a state a token.

    Layers run over packed sequences, so a backward layer begins at a sentence's last token and not
    at its pads.

    Dropout is vertical (Zaremba et al. 2014, eq. 7-11): on what goes into each layer from the one
    below, never from one step to the next.

    Args:
        embedding: [V, E], the token vectors.
        layers: One-layer LSTMs or GRUs with the batch first, from the bottom up; see `lstm_layers`.
        dropout: Its probability.
    """

    def __init__(
        self, embedding: nn.Embedding, layers: Sequence[nn.RNNBase], *, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.embedding = embedding
        self.layers = nn.ModuleList(layers)
        self.dropout = nn.Dropout(dropout)

    def forward(self, ids: Tensor, mask: Tensor) -> States:
        """Return the states [B, S, D] of ids int64 [B, S]; zeros at pads."""
        vectors = self.embedding(ids)  # [B, S, E]
        # A sentence without tokens is packed as one pad; the mask keeps it out of every vector.
        lengths = mask.sum(1).clamp(min=1).cpu()
        packed = pack_padded_sequence(vectors, lengths, batch_first=True, enforce_sorted=False)
        for layer in self.layers:
            packed = layer(_map(self.dropout, packed))[0]
        states, _ = pad_packed_sequence(packed, batch_first=True, total_length=ids.shape[1])
        return States(states, mask)


def _map(function: nn.Module, packed: PackedSequence) -> PackedSequence:
    return packed._replace(data=function(packed.data))


def token_vectors(vocabulary: int, width: int) -> nn.Embedding:
    """Return token vectors [V, E] with the first values of `EMBEDDING_RANGE`."""
    embedding = nn.Embedding(vocabulary, width)
    nn.init.uniform_(embedding.weight, -EMBEDDING_RANGE, EMBEDDING_RANGE)
    return embedding


def lstm_layers(inputs: int, width: int, depth: int) -> list[nn.LSTM]:
    """Return `depth` layers of `width` that read from left to right, on inputs of `inputs`."""
    sizes = [inputs, *[width] * (depth - 1)]
    return [nn.LSTM(size, width, batch_first=True) for size in sizes]


def blstm_layers(inputs: int, width: int, depth: int) -> list[nn.LSTM]:
    """Return `depth` layers that read both ways, `width` each way, so D is 2 x `width`."""
    sizes = [inputs, *[2 * width] * (depth - 1)]
    return [nn.LSTM(size, width, batch_first=True, bidirectional=True) for size in sizes]
