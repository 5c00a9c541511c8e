"""Sentence vectors as ONNX nodes: one function a module of `training.sentence_vectors`."""

from __future__ import annotations

from functools import singledispatch

import numpy as np
from onnx import TensorProto
from torch import nn

from service.bundle.graph_builder import GraphBuilder
from training.sentence_vectors import LastState, MaxPooling, MeanPooling, SelfAttention

_LEAST = np.finfo(np.float32).min


@singledispatch
def pool(module: nn.Module, graph: GraphBuilder, states: str) -> str:  # noqa: ARG001
    """Add the nodes of a sentence vector and return the name of what they give, [batch, D].

    Args:
        module: Which.
        graph: They are added to; its input `mask` says what is a pad.
        states: Name of float32 [batch, tokens, D].
    """
    raise TypeError(f"there is no graph of {type(module).__name__}; this is a bug")


@pool.register
def _(module: LastState, graph: GraphBuilder, states: str) -> str:  # noqa: ARG001
    count = graph.node("ReduceSum", "mask", graph.constant([1]), attributes={"keepdims": 0})
    last = graph.node("Max", graph.node("Sub", count, graph.constant(1)), graph.constant(0))
    # GatherND with batch_dims=1 takes from row b the token last[b].
    place = graph.node("Unsqueeze", last, graph.constant([1]))
    vectors = graph.node("GatherND", states, place, attributes={"batch_dims": 1})
    return _or_zeros(graph, vectors)


@pool.register
def _(module: MaxPooling, graph: GraphBuilder, states: str) -> str:  # noqa: ARG001
    masked = graph.node("Where", _column(graph), states, graph.constant(_LEAST))
    greatest = graph.node("ReduceMax", masked, graph.constant([1]), attributes={"keepdims": 0})
    return _or_zeros(graph, greatest)


@pool.register
def _(module: MeanPooling, graph: GraphBuilder, states: str) -> str:  # noqa: ARG001
    weights = graph.cast(_column(graph), TensorProto.FLOAT)
    axis = graph.constant([1])
    total = graph.node(
        "ReduceSum", graph.node("Mul", states, weights), axis, attributes={"keepdims": 0}
    )
    count = graph.node("ReduceSum", weights, axis, attributes={"keepdims": 0})
    return graph.node("Div", total, graph.node("Max", count, graph.constant(1.0)))


@pool.register
def _(module: SelfAttention, graph: GraphBuilder, states: str) -> str:
    inner = graph.node("MatMul", states, graph.constant(_transposed(module.inner)))
    scores = graph.node(
        "MatMul", graph.node("Tanh", inner), graph.constant(_transposed(module.hops))
    )
    masked = graph.node("Where", _column(graph), scores, graph.constant(_LEAST))
    weights = graph.node("Softmax", masked, attributes={"axis": 1})
    turned = graph.node("Transpose", weights, attributes={"perm": [0, 2, 1]})
    hops = graph.node("MatMul", turned, states)  # [batch, hops, D]
    return _or_zeros(graph, graph.node("Flatten", hops, attributes={"axis": 1}))


def _transposed(linear: nn.Linear) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    weight: np.ndarray[tuple[int, int], np.dtype[np.float32]] = (
        linear.weight.detach().cpu().float().numpy().T
    )
    return weight


def _column(graph: GraphBuilder) -> str:
    """Return the mask as bool [batch, tokens, 1]."""
    return graph.node("Unsqueeze", graph.cast("mask", TensorProto.BOOL), graph.constant([2]))


def _or_zeros(graph: GraphBuilder, vectors: str) -> str:
    """Return `vectors`, zeros where a sentence has no token."""
    some = graph.node("ReduceMax", "mask", graph.constant([1]), attributes={"keepdims": 1})
    return graph.node("Where", graph.cast(some, TensorProto.BOOL), vectors, graph.constant(0.0))
