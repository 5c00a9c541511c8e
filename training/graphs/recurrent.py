"""The ONNX graph of an LSTM encoder.

Written node by node, for one reason above all: each LSTM node gets the lengths of the sentences, so
that a backward layer begins at a sentence's last token. A traced graph runs over the pads, which
is right for one sentence and wrong for every shorter one of a batch.
"""

from __future__ import annotations

from typing import cast

import numpy as np
import numpy.typing as npt
from onnx import TensorProto
from torch import Tensor, nn

from training.encoders.recurrent import RecurrentEncoder
from training.encoders.states import SentenceEncoder
from training.graphs.builder import GraphBuilder
from training.graphs.pooling import pool

Array = npt.NDArray[np.float32]


def recurrent_graph(encoder: SentenceEncoder, *, dimension: int) -> bytes:
    """Return the graph: ids, mask int64 [batch, tokens] -> vectors float32 [batch, dimension].

    Args:
        encoder: Of a `RecurrentEncoder` and any module of `training.sentence_vectors`.
        dimension: Width D of its vectors.
    """
    tokens = cast(RecurrentEncoder, encoder.tokens)
    graph = GraphBuilder()
    lengths = _lengths(graph)
    rows = graph.node("Gather", graph.constant(_array(tokens.embedding.weight)), "ids")
    steps = graph.node("Transpose", rows, attributes={"perm": [1, 0, 2]})  # [tokens, batch, E]
    for layer in tokens.layers:
        steps = _layer(graph, cast(nn.LSTM, layer), steps, lengths)
    states = graph.node("Transpose", steps, attributes={"perm": [1, 0, 2]})  # [batch, tokens, D]
    return graph.finish(pool(encoder.sentence_vector, graph, states), dimension)


def _lengths(graph: GraphBuilder) -> str:
    """Return int32 [batch]; at least 1, as in training."""
    count = graph.node("ReduceSum", "mask", graph.constant([1]), attributes={"keepdims": 0})
    return graph.cast(graph.node("Max", count, graph.constant(1)), TensorProto.INT32)


def _layer(graph: GraphBuilder, layer: nn.LSTM, inputs: str, lengths: str) -> str:
    """Add one layer: [tokens, batch, inputs] -> [tokens, batch, directions x width]."""
    suffixes = ("", "_reverse") if layer.bidirectional else ("",)
    weights = [_gates(layer, f"weight_ih_l0{suffix}") for suffix in suffixes]
    recurrent = [_gates(layer, f"weight_hh_l0{suffix}") for suffix in suffixes]
    biases = [
        np.concatenate([_gates(layer, f"bias_ih_l0{suffix}"), _gates(layer, f"bias_hh_l0{suffix}")])
        for suffix in suffixes
    ]
    states = graph.node(
        "LSTM",
        inputs,
        graph.constant(np.stack(weights)),
        graph.constant(np.stack(recurrent)),
        graph.constant(np.stack(biases)),
        lengths,
        attributes={
            "hidden_size": layer.hidden_size,
            "direction": "bidirectional" if layer.bidirectional else "forward",
        },
    )  # [tokens, directions, batch, width]
    ordered = graph.node("Transpose", states, attributes={"perm": [0, 2, 1, 3]})
    return graph.node("Reshape", ordered, graph.constant([0, 0, -1]))


def _gates(layer: nn.LSTM, name: str) -> Array:
    """Return a parameter with its gates in ONNX's order: torch has i, f, c, o; ONNX i, o, f, c."""
    i, f, c, o = np.split(_array(getattr(layer, name)), 4)
    return np.concatenate([i, o, f, c])


def _array(parameter: Tensor) -> Array:
    array: Array = parameter.detach().cpu().float().numpy()
    return array
