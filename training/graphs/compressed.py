"""Traced graphs with their weights in 8 or 4 bits, as their tables of token vectors are.

Only what lies on disk changes: every weight is a constant of codes, widened and multiplied by its
scales, which ONNX Runtime computes once when it loads the graph, and OpenVINO when it reads it.
Products are computed as if the weights had been stored in full.

A weight that 4 bits hold as it is, since it was trained so (`training.rounding`), lies in 4 bits,
with a scale for every 64 numbers of a row. Any other is rounded to 8: a matrix has a scale for each
of its outputs, what else there is one for each row.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import torch
from onnx import NodeProto, TensorProto, helper, numpy_helper
from torch import nn

from training.graphs.static import GROUP, StoredTable, packed, store

_LEAST_NUMBERS = 1 << 15
"""Weights of fewer numbers stay as they are: biases and norms."""


def round_weights(module: nn.Module) -> None:
    """Round the weights of `module`, in place, to what its compressed graph will compute with."""
    with torch.no_grad():
        for weight in module.parameters():
            if is_compressed(tuple(weight.shape)):
                # A linear layer's weight is [outputs, inputs], so that its rows are its outputs.
                weight.copy_(torch.from_numpy(_stored(weight.numpy()).widened()))


def is_compressed(shape: tuple[int, ...]) -> bool:
    """Say whether a weight of that shape is rounded: a matrix, and none of the small ones."""
    return len(shape) == 2 and shape[0] * shape[1] >= _LEAST_NUMBERS


def _stored(rows: npt.NDArray[np.float32]) -> StoredTable:
    """Return `rows` in 4 bits where these hold them as they are, else rounded to 8."""
    if rows.shape[1] % GROUP == 0:
        narrow = store(rows, "int4")
        if np.array_equal(narrow.widened(), rows):
            return narrow
    return store(rows, "int8")


def compressed_graph(graph: bytes) -> bytes:
    """Return `graph` with its weights in 8 or 4 bits.

    Args:
        graph: Traced (`training.graphs.traced`), of a module whose weights `round_weights` has
            rounded.
    """
    model = onnx.load_from_string(graph)
    kept = {weight.name: weight for weight in model.graph.initializer}
    multipliers = {node.input[1] for node in model.graph.node if node.op_type == "MatMul"}
    nodes: list[NodeProto] = []
    weights: list[TensorProto] = []
    for name in list(kept):
        numbers = kept[name].data_type == TensorProto.FLOAT
        if numbers and is_compressed(tuple(kept[name].dims)):
            widening, stored = _compressed(kept.pop(name), by_column=name in multipliers)
            nodes += widening
            weights += stored
    nodes += model.graph.node
    del model.graph.node[:], model.graph.initializer[:]
    model.graph.node.extend(nodes)
    model.graph.initializer.extend([*weights, *kept.values()])
    onnx.checker.check_model(model)
    return bytes(model.SerializeToString())


def _compressed(
    weight: TensorProto, *, by_column: bool
) -> tuple[list[NodeProto], list[TensorProto]]:
    """Return the nodes that make `weight` again under its name, and what they make it of."""
    values = numpy_helper.to_array(weight)
    stored = _stored(values.T if by_column else values)
    name = weight.name
    if stored.precision == "int8":
        arrays: dict[str, npt.NDArray[Any]] = {"codes": stored.codes, "scales": stored.scales}
        if by_column:
            arrays = {part: np.ascontiguousarray(array.T) for part, array in arrays.items()}
        return [
            helper.make_node("Cast", [f"{name}.codes"], [f"{name}.wide"], to=TensorProto.FLOAT),
            helper.make_node("Mul", [f"{name}.wide", f"{name}.scales"], [name]),
        ], [numpy_helper.from_array(array, f"{name}.{part}") for part, array in arrays.items()]
    return _from_nibbles(name, stored, by_column=by_column)


def _from_nibbles(
    name: str, stored: StoredTable, *, by_column: bool
) -> tuple[list[NodeProto], list[TensorProto]]:
    """Return the nodes that make a weight in 4 bits again under `name`, and what they make it of.

    Two codes lie in a byte. They are told apart in floating point, which OpenVINO computes when it
    reads the graph. Bits it would leave to every run, and where ONNX shifts them it divides, and
    rounds to the nearest once that has become a part of a weight.
    """
    rows, width = stored.codes.shape
    constants = {
        "packed": packed(stored.codes),
        "half_scales": stored.scales.astype(np.float16),
        "sixteen": np.array(16, dtype=np.float32),
        "sixteenth": np.array(1 / 16, dtype=np.float32),
        "eight": np.array(8, dtype=np.float32),
        "grouped": np.array([rows, stored.scales.shape[1], GROUP], dtype=np.int64),
        "whole": np.array([rows, width], dtype=np.int64),
        "last": np.array([-1], dtype=np.int64),
    }
    n = _Names(f"{name}.")
    whole = n.rows if by_column else name
    nodes = [
        helper.make_node("Cast", [n.packed], [n.both], to=TensorProto.FLOAT),
        helper.make_node("Mul", [n.both, n.sixteenth], [n.sixteenths]),
        helper.make_node("Floor", [n.sixteenths], [n.high]),
        helper.make_node("Mul", [n.high, n.sixteen], [n.without_low]),
        helper.make_node("Sub", [n.both, n.without_low], [n.low]),
        helper.make_node("Concat", [n.low, n.high], [n.unsigned], axis=1),
        helper.make_node("Sub", [n.unsigned, n.eight], [n.wide]),
        helper.make_node("Reshape", [n.wide, n.grouped], [n.groups]),
        helper.make_node("Cast", [n.half_scales], [n.scales], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", [n.scales, n.last], [n.each]),
        helper.make_node("Mul", [n.groups, n.each], [n.scaled]),
        helper.make_node("Reshape", [n.scaled, n.whole], [whole]),
    ]
    if by_column:
        nodes.append(helper.make_node("Transpose", [whole], [name], perm=[1, 0]))
    return nodes, [
        numpy_helper.from_array(array, f"{name}.{part}") for part, array in constants.items()
    ]


class _Names:
    """What is made, by its own name behind a prefix."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix

    def __getattr__(self, name: str) -> str:
        return self._prefix + name
