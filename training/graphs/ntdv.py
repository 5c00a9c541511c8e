"""The ONNX graph of one language's NTDV encoder: frozen layers, shared GRU, heads, their mean."""

from __future__ import annotations

import math
from typing import cast

import numpy as np
from onnx import TensorProto
from torch import nn

from service.bundle.graph_builder import GraphBuilder
from training.encoders.ntdv import ContextHeads, NtdvStates, SumOfHeads
from training.encoders.recurrent import RecurrentEncoder
from training.encoders.states import SentenceEncoder
from training.graphs.pooling import pool
from training.graphs.recurrent import recurrent_layer, recurrent_steps, sentence_lengths

_BLOCKED = -1e9


def ntdv_graph(encoder: SentenceEncoder, *, dimension: int) -> bytes:
    """Return the graph: ids, mask int64 [batch, tokens] -> vectors float32 [batch, dimension].

    Args:
        encoder: Of `NtdvStates` upon a `RecurrentEncoder`, with mean pooling or `SumOfHeads`.
        dimension: Width of its vectors.
    """
    tokens = cast(NtdvStates, encoder.tokens)
    graph = GraphBuilder()
    lengths = sentence_lengths(graph)
    steps = recurrent_steps(graph, cast(RecurrentEncoder, tokens.frozen), lengths)
    steps = recurrent_layer(graph, tokens.gru, steps, lengths)
    hidden = graph.node("Transpose", steps, attributes={"perm": [1, 0, 2]})  # [batch, tokens, d_h]
    contexts = _heads(graph, tokens.heads, hidden)
    return graph.finish(pool(encoder.sentence_vector, graph, contexts), dimension)


def _heads(graph: GraphBuilder, heads: ContextHeads, states: str) -> str:
    """Add eq. 3.1 of Li 2021: [batch, tokens, d_h] -> [batch, tokens, r x d_h]."""
    apart = graph.constant([0, 0, heads.heads, heads.query.in_features])

    def split(linear: nn.Linear, axes: list[int]) -> str:
        weight = linear.weight.detach().cpu().float().numpy().T
        rows = graph.node("MatMul", states, graph.constant(np.ascontiguousarray(weight)))
        return graph.node(
            "Transpose", graph.node("Reshape", rows, apart), attributes={"perm": axes}
        )

    query = split(heads.query, [0, 2, 1, 3])  # [batch, r, tokens, d_h]
    key = split(heads.key, [0, 2, 3, 1])  # [batch, r, d_h, tokens]
    value = split(heads.value, [0, 2, 1, 3])
    products = graph.node("MatMul", query, key)
    scores = graph.node(
        "Add",
        graph.node("Div", products, graph.constant(math.sqrt(heads.query.in_features))),
        _key_bias(graph),
    )
    weights = graph.node("Softmax", scores, attributes={"axis": 3})
    contexts = graph.node(
        "Transpose", graph.node("MatMul", weights, value), attributes={"perm": [0, 2, 1, 3]}
    )
    return graph.node("Reshape", contexts, graph.constant([0, 0, -1]))


def _key_bias(graph: GraphBuilder) -> str:
    """Add what hides the pads: float32 [batch, 1, 1, tokens]."""
    pads = graph.node("Sub", graph.constant(1.0), graph.cast("mask", TensorProto.FLOAT))
    rows = graph.node("Unsqueeze", pads, graph.constant([1, 2]))
    return graph.node("Mul", rows, graph.constant(_BLOCKED))


@pool.register
def _(module: SumOfHeads, graph: GraphBuilder, states: str) -> str:
    contexts = pool(module.pooling, graph, states)  # [batch, r x d_h]
    columns = graph.node("Reshape", contexts, graph.constant([0, module.heads, -1]))
    return graph.node("ReduceSum", columns, graph.constant([1]), attributes={"keepdims": 0})
