"""The ONNX graph of an additive encoder."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from onnx import TensorProto

from service.bundle.graph_builder import GraphBuilder


def additive_graph(table: npt.NDArray[np.float32]) -> bytes:
    """Return the graph: ids, mask int64 [batch, tokens] -> sums of rows, float32 [batch, D].

    Args:
        table: float32 [V, D].
    """
    graph = GraphBuilder()
    rows = graph.node("Gather", graph.constant(table), "ids")  # [batch, tokens, D]
    # [batch, 1, tokens] x [batch, tokens, D]: pads are multiplied by 0.
    kept = graph.node("Unsqueeze", graph.cast("mask", TensorProto.FLOAT), graph.constant([1]))
    sums = graph.node("Squeeze", graph.node("MatMul", kept, rows), graph.constant([1]))
    return graph.finish(sums, table.shape[1])
