"""The ONNX graphs of LSTM encoders, and of recurrent layers in others.

Written node by node, for one reason above all: each recurrent node gets the lengths of the
sentences, so that a backward layer begins at a sentence's last token. A traced graph runs over the
pads, which is right for one sentence and wrong for every shorter one of a batch.
"""

from __future__ import annotations

from typing import cast

import numpy as np
import numpy.typing as npt
from onnx import TensorProto
from torch import Tensor, nn

from service.bundle.graph_builder import GraphBuilder
from training.encoders.recurrent import RecurrentEncoder
from training.encoders.states import SentenceEncoder
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
    steps = recurrent_steps(graph, tokens, sentence_lengths(graph))
    states = graph.node("Transpose", steps, attributes={"perm": [1, 0, 2]})  # [batch, tokens, D]
    return graph.finish(pool(encoder.sentence_vector, graph, states), dimension)


def recurrent_steps(graph: GraphBuilder, tokens: RecurrentEncoder, lengths: str) -> str:
    """Add the layers of `tokens` and return the name of its states, [tokens, batch, D]."""
    rows = graph.node("Gather", graph.constant(_array(tokens.embedding.weight)), "ids")
    steps = graph.node("Transpose", rows, attributes={"perm": [1, 0, 2]})  # [tokens, batch, E]
    for layer in tokens.layers:
        steps = recurrent_layer(graph, cast(nn.RNNBase, layer), steps, lengths)
    return steps


def sentence_lengths(graph: GraphBuilder) -> str:
    """Return int32 [batch]; at least 1, as in training."""
    count = graph.node("ReduceSum", "mask", graph.constant([1]), attributes={"keepdims": 0})
    return graph.cast(graph.node("Max", count, graph.constant(1)), TensorProto.INT32)


def recurrent_layer(graph: GraphBuilder, layer: nn.RNNBase, inputs: str, lengths: str) -> str:
    """Add one LSTM or GRU layer: [tokens, batch, inputs] -> [tokens, batch, directions x width]."""
    gru = isinstance(layer, nn.GRU)
    suffixes = ("", "_reverse") if layer.bidirectional else ("",)
    weights = [_gates(layer, f"weight_ih_l0{suffix}") for suffix in suffixes]
    recurrent = [_gates(layer, f"weight_hh_l0{suffix}") for suffix in suffixes]
    biases = [
        np.concatenate([_gates(layer, f"bias_ih_l0{suffix}"), _gates(layer, f"bias_hh_l0{suffix}")])
        for suffix in suffixes
    ]
    states = graph.node(
        "GRU" if gru else "LSTM",
        inputs,
        graph.constant(np.stack(weights)),
        graph.constant(np.stack(recurrent)),
        graph.constant(np.stack(biases)),
        lengths,
        attributes={
            "hidden_size": layer.hidden_size,
            "direction": "bidirectional" if layer.bidirectional else "forward",
            # torch multiplies the reset gate into the product with h, after the matrix.
            **({"linear_before_reset": 1} if gru else {}),
        },
    )  # [tokens, directions, batch, width]
    ordered = graph.node("Transpose", states, attributes={"perm": [0, 2, 1, 3]})
    return graph.node("Reshape", ordered, graph.constant([0, 0, -1]))


def _gates(layer: nn.RNNBase, name: str) -> Array:
    """Return a parameter with its gates in ONNX's order.

    LSTM: torch has i, f, c, o; ONNX i, o, f, c. GRU: torch has r, z, n; ONNX z, r, n.
    """
    if isinstance(layer, nn.GRU):
        r, z, n = np.split(_array(getattr(layer, name)), 3)
        return np.concatenate([z, r, n])
    i, f, c, o = np.split(_array(getattr(layer, name)), 4)
    return np.concatenate([i, o, f, c])


def _array(parameter: Tensor) -> Array:
    array: Array = parameter.detach().cpu().float().numpy()
    return array
