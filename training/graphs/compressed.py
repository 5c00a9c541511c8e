"""Traced graphs with their weights in 8 bits, and a table of token vectors in 4.

Only what lies on disk changes: every weight is a constant of 8-bit codes, widened and multiplied by
its scale, which ONNX Runtime computes once when it loads the graph, and which OpenVINO knows as a
compressed weight. Products are computed as if the weights had been stored in full.

A matrix has a scale for each of its outputs, any other weight one for each row.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import torch
from onnx import NodeProto, TensorProto, helper, numpy_helper
from torch import nn

from training.graphs.static import StoredTable, store, table_rows

_LEAST_NUMBERS = 1 << 15
"""Weights of fewer numbers stay as they are: biases and norms."""


def round_weights(module: nn.Module) -> None:
    """Round the weights of `module`, in place, to what its compressed graph will compute with."""
    with torch.no_grad():
        for weight in module.parameters():
            if _is_compressed(tuple(weight.shape)):
                # A linear layer's weight is [outputs, inputs], so that its rows are its outputs.
                weight.copy_(torch.from_numpy(store(weight.numpy(), "int8").widened()))


def _is_compressed(shape: tuple[int, ...]) -> bool:
    return len(shape) == 2 and shape[0] * shape[1] >= _LEAST_NUMBERS


def compressed_graph(graph: bytes, *, table: StoredTable) -> bytes:
    """Return `graph` with its weights in 8 bits and the token table as `table` has it.

    Args:
        graph: Traced (`training.graphs.traced`), of a module whose weights `round_weights` has
            rounded.
        table: What stands in place of the weight that `ids` are looked up in.
    """
    model = onnx.load_from_string(graph)
    nodes, weights = table_rows(table)
    kept = {weight.name: weight for weight in model.graph.initializer}
    multipliers = {node.input[1] for node in model.graph.node if node.op_type == "MatMul"}
    lookups = [n for n in model.graph.node if n.op_type == "Gather" and n.input[1] == "ids"]
    for lookup in lookups:
        kept.pop(lookup.input[0], None)
        nodes.append(helper.make_node("Identity", ["rows"], [lookup.output[0]]))
    for name in list(kept):
        if _is_compressed(tuple(kept[name].dims)):
            widening, stored = _compressed(kept.pop(name), by_column=name in multipliers)
            nodes += widening
            weights += stored
    others = [node for node in model.graph.node if node not in lookups]
    del model.graph.node[:], model.graph.initializer[:]
    model.graph.node.extend([*nodes, *others])
    model.graph.initializer.extend([*weights, *kept.values()])
    onnx.checker.check_model(model)
    return bytes(model.SerializeToString())


def _compressed(
    weight: TensorProto, *, by_column: bool
) -> tuple[list[NodeProto], list[TensorProto]]:
    """Return the nodes that make `weight` again under its name, and what they make it of."""
    values = numpy_helper.to_array(weight)
    stored = store(values.T if by_column else values, "int8")
    arrays: dict[str, npt.NDArray[Any]] = {"codes": stored.codes, "scales": stored.scales}
    if by_column:
        arrays = {part: np.ascontiguousarray(array.T) for part, array in arrays.items()}
    name = weight.name
    return [
        helper.make_node("Cast", [f"{name}.codes"], [f"{name}.wide"], to=TensorProto.FLOAT),
        helper.make_node("Mul", [f"{name}.wide", f"{name}.scales"], [name]),
    ], [numpy_helper.from_array(array, f"{name}.{part}") for part, array in arrays.items()]
