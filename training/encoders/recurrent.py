"""Recurrent encoders: stacks of layers, each read from left to right or both ways.

Schwenk & Douze 2017, section 4.1: stacked LSTMs (3 x 512, 3 x 1024) and BLSTMs (1 to 3 x 256 or
512). Yu, Li & Oguz 2018, section 2: a BLSTM of 512 with an LSTM of 1024 above it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from training.encoders.states import States

EMBEDDING_RANGE = 0.1
"""First token vectors are uniform in -0.1 .. 0.1; the papers do not say."""


class RecurrentEncoder(nn.Module):
    """Token ids to a state a token.

    A backward layer begins at a sentence's last token and not at its pads: see `read_packed` and
    `read_turned`, which give the same.

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
        rows = self.embedding(ids)  # [B, S, E]
        lengths = mask.sum(1).cpu()  # packing needs them there: a GPU is waited for but once
        read = read_turned if rows.device.type == "cpu" else read_packed
        for layer in self.layers:
            rows = read(cast(nn.RNNBase, layer), self.dropout(rows), lengths)
        return States(rows * mask[:, :, None], mask)


def read_packed(layer: nn.RNNBase, rows: Tensor, lengths: Tensor) -> Tensor:
    """Return a layer's states [B, S, D] of `rows` [B, S, E], int64 `lengths` [B] of them real.

    Over packed sequences, which is what a GPU has kernels for; `lengths` are on the CPU. States at
    pads are zeros, except that a sentence without tokens has one.
    """
    packed = pack_padded_sequence(
        rows, lengths.clamp(min=1), batch_first=True, enforce_sorted=False
    )
    return pad_packed_sequence(layer(packed)[0], batch_first=True, total_length=rows.shape[1])[0]


def read_turned(layer: nn.RNNBase, rows: Tensor, lengths: Tensor) -> Tensor:
    """Return a layer's states [B, S, D] of `rows` [B, S, E], int64 `lengths` [B] of them real.

    Over the rectangle, for which alone a CPU has a fused kernel (two to three times as fast at the
    widths of small runs): a layer that reads both ways reads each sentence's rows from left to
    right, then turned around; its pads stay at the end, where they change nothing. States at pads
    hold anything finite.
    """
    forwards = _from_left(layer, rows, layer.all_weights[0])
    if not layer.bidirectional:
        return forwards
    place = torch.arange(rows.shape[1])
    last = lengths[:, None] - 1
    turned = torch.where(place <= last, last - place, place)  # [B, S], its own inverse
    sentence = torch.arange(len(rows))[:, None]
    backwards = _from_left(layer, rows[sentence, turned], layer.all_weights[1])[sentence, turned]
    return torch.cat([forwards, backwards], 2)


def _from_left(layer: nn.RNNBase, rows: Tensor, weights: Iterable[Tensor]) -> Tensor:
    """Run one direction's weights over `rows` [B, S, E] from left to right: [B, S, H]."""
    parameters = tuple(weights)
    zeros = rows.new_zeros(1, len(rows), layer.hidden_size)
    if isinstance(layer, nn.LSTM):
        states: Tensor = torch.lstm(
            rows, (zeros, zeros), parameters, True, 1, 0.0, layer.training, False, True
        )[0]
        return states
    states = torch.gru(rows, zeros, parameters, True, 1, 0.0, layer.training, False, True)[0]
    return states


def token_vectors(vocabulary: int, width: int) -> nn.Embedding:
    """Return token vectors [V, E] with the first values of `EMBEDDING_RANGE`."""
    embedding = nn.Embedding(vocabulary, width)
    nn.init.uniform_(embedding.weight, -EMBEDDING_RANGE, EMBEDDING_RANGE)
    return embedding


def lstm_layers(inputs: int, width: int, depth: int, *, forget_bias: float = 0.0) -> list[nn.LSTM]:
    """Return `depth` layers of `width` that read from left to right, on inputs of `inputs`.

    Args:
        inputs: Of the lowest layer.
        width: Of each layer.
        depth: How many.
        forget_bias: Added to what the forget gates' biases begin with. With 1 states are kept for
            longer from the first step on (Gers et al. 2000; Jozefowicz et al. 2015).
    """
    sizes = [inputs, *[width] * (depth - 1)]
    layers = [nn.LSTM(size, width, batch_first=True) for size in sizes]
    return _remembering(layers, forget_bias)


def blstm_layers(inputs: int, width: int, depth: int, *, forget_bias: float = 0.0) -> list[nn.LSTM]:
    """Return `depth` layers that read both ways, `width` each way, so D is 2 x `width`.

    Args:
        inputs: Of the lowest layer.
        width: Of each layer and way.
        depth: How many.
        forget_bias: As that of `lstm_layers`.
    """
    sizes = [inputs, *[2 * width] * (depth - 1)]
    layers = [nn.LSTM(size, width, batch_first=True, bidirectional=True) for size in sizes]
    return _remembering(layers, forget_bias)


def _remembering(layers: list[nn.LSTM], forget_bias: float) -> list[nn.LSTM]:
    for layer in layers:
        for name, values in layer.named_parameters():
            if name.startswith("bias_ih"):  # the gates: input, forget, cell, output
                with torch.no_grad():
                    values[layer.hidden_size : 2 * layer.hidden_size] += forget_bias
    return layers
