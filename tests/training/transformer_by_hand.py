"""Transformer blocks and GRU steps in numpy, one sentence at a time, to compare with."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from torch import nn

Array = npt.NDArray[np.float64]


def weights(module: nn.Module, name: str) -> Array:
    array: Array = module.get_parameter(name).detach().numpy().astype(np.float64)
    return array


def linear(module: nn.Module, name: str, rows: Array) -> Array:
    result: Array = rows @ weights(module, f"{name}.weight").T + weights(module, f"{name}.bias")
    return result


def norm(module: nn.Module, name: str, rows: Array) -> Array:
    centred = rows - rows.mean(-1, keepdims=True)
    scaled = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)
    result: Array = scaled * weights(module, f"{name}.weight") + weights(module, f"{name}.bias")
    return result


def softmax(scores: Array) -> Array:
    raised: Array = np.exp(scores - scores.max())
    result: Array = raised / raised.sum()
    return result


def attend(
    module: nn.Module, queries: Array, keys: Array, *, heads: int, causal: bool = False
) -> Array:
    """Head by head, place by place: queries [Q, D], keys [S, C] -> [Q, D]."""
    query, key, value = (
        linear(module, name, rows)
        for name, rows in (("query", queries), ("key", keys), ("value", keys))
    )
    head = query.shape[1] // heads
    found = np.zeros_like(query)
    for h in range(heads):
        columns = slice(h * head, (h + 1) * head)
        for place in range(len(query)):
            seen = place + 1 if causal else len(key)
            scores = key[:seen, columns] @ query[place, columns] / math.sqrt(head)
            found[place, columns] = softmax(scores) @ value[:seen, columns]
    return linear(module, "result", found)


def feed_forward(module: nn.Module, name: str, rows: Array) -> Array:
    up: Array = np.maximum(linear(module, f"{name}.up", rows), 0)
    return linear(module, f"{name}.down", up)


def layer(module: nn.Module, queries: Array, keys: Array, *, heads: int, norm_first: bool) -> Array:
    """One encoder layer."""
    attention = module.get_submodule("attention")
    if norm_first:
        seen = norm(module, "attention_norm", keys)
        asked = norm(module, "attention_norm", queries)
        rows = queries + attend(attention, asked, seen, heads=heads)
        return rows + feed_forward(module, "feed_forward", norm(module, "feed_forward_norm", rows))
    rows = norm(module, "attention_norm", queries + attend(attention, queries, keys, heads=heads))
    return norm(module, "feed_forward_norm", rows + feed_forward(module, "feed_forward", rows))


def sinusoids(length: int, width: int) -> Array:
    table = np.zeros((length, width))
    for place in range(length):
        for i in range(width // 2):
            angle = place / 10000 ** (i / (width // 2 - 1))
            table[place, i] = math.sin(angle)
            table[place, width // 2 + i] = math.cos(angle)
    return table


def sigmoid(x: Array) -> Array:
    result: Array = 1 / (1 + np.exp(-x))
    return result


def gru_step(module: nn.Module, inputs: Array, state: Array, *, suffix: str = "") -> Array:
    """Cho et al. 2014, with the reset gate after the product, as Nematus and torch have it."""
    w, u, b, c = (
        weights(module, f"{name}{suffix}")
        for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    )
    from_inputs, from_state = np.split(w @ inputs + b, 3), np.split(u @ state + c, 3)
    reset = sigmoid(from_inputs[0] + from_state[0])
    update = sigmoid(from_inputs[1] + from_state[1])
    candidate = np.tanh(from_inputs[2] + reset * from_state[2])
    return (1 - update) * candidate + update * state
