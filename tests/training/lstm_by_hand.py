"""LSTMs in numpy, one step at a time, to compare with."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from torch import nn

Array = npt.NDArray[np.float64]


def _sigmoid(x: Array) -> Array:
    result: Array = 1 / (1 + np.exp(-x))
    return result


def run_by_hand(
    layer: nn.LSTM, inputs: Array, hidden: Array | None = None, cell: Array | None = None
) -> Array:
    """Return the states [S, D] of one sentence [S, inputs], both ways where the layer goes both.

    Hochreiter & Schmidhuber 1997, with the gates i, f, g, o.
    """
    forward = _one_way(layer, inputs, "", hidden, cell)
    if not layer.bidirectional:
        return forward
    backward = _one_way(layer, inputs[::-1], "_reverse", None, None)[::-1]
    return np.concatenate([forward, backward], axis=1)


def _one_way(
    layer: nn.LSTM, inputs: Array, suffix: str, hidden: Array | None, cell: Array | None
) -> Array:
    w, u, b, c = (
        getattr(layer, f"{name}_l0{suffix}").detach().double().numpy()
        for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    )
    state = np.zeros(layer.hidden_size) if hidden is None else hidden
    memory = np.zeros(layer.hidden_size) if cell is None else cell
    states = []
    for step in inputs:
        i, f, g, o = np.split(w @ step + b + u @ state + c, 4)
        memory = _sigmoid(f) * memory + _sigmoid(i) * np.tanh(g)
        state = _sigmoid(o) * np.tanh(memory)
        states.append(state)
    return np.array(states)
