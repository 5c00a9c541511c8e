"""Traced graphs with their weights in 8 or 4 bits, as their tables of token vectors are.

Products are computed as if the weights had been stored in full.

A weight that 4 bits hold as it is, since it was trained so (`training.rounding`), lies in 4 bits,
with a scale for every 64 numbers of a row, and the standard's own operator for that before its
product: ONNX Runtime keeps the 4 bits in memory and widens them as it multiplies, OpenVINO widens
them when it reads the graph. Any other is rounded to 8, widened and multiplied by its scales, which
both compute once: a matrix has a scale for each of its outputs, what else there is one for each
row.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import onnx
import torch
from ml_dtypes import int4
from onnx import NodeProto, TensorProto, helper, numpy_helper
from torch import nn

from training.graphs.static import GROUP, StoredTable, store

_LEAST_NUMBERS = 1 << 15
"""Weights of fewer numbers stay as they are: biases and norms."""

_OPSET, _IR_VERSION = 21, 10
"""The first that have 4 bits."""


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
    model.opset_import[0].version, model.ir_version = _OPSET, _IR_VERSION
    onnx.checker.check_model(model)
    return bytes(model.SerializeToString())


def _compressed(
    weight: TensorProto, *, by_column: bool
) -> tuple[list[NodeProto], list[TensorProto]]:
    """Return the nodes that make `weight` again under its name, and what they make it of."""
    values = numpy_helper.to_array(weight)
    stored = _stored(values.T if by_column else values)
    laid_out = [stored.codes, stored.scales]
    codes, scales = (np.ascontiguousarray(a.T if by_column else a) for a in laid_out)
    name = weight.name
    if stored.precision == "int8":
        return [
            helper.make_node("Cast", [f"{name}.codes"], [f"{name}.wide"], to=TensorProto.FLOAT),
            helper.make_node("Mul", [f"{name}.wide", f"{name}.scales"], [name]),
        ], [
            numpy_helper.from_array(codes, f"{name}.codes"),
            numpy_helper.from_array(scales, f"{name}.scales"),
        ]
    return [
        helper.make_node("Cast", [f"{name}.half_scales"], [f"{name}.scales"], to=TensorProto.FLOAT),
        helper.make_node(
            "DequantizeLinear",
            [f"{name}.codes", f"{name}.scales"],
            [name],
            axis=0 if by_column else 1,
            block_size=GROUP,
        ),
    ], [
        numpy_helper.from_array(codes.astype(int4), f"{name}.codes"),
        numpy_helper.from_array(scales.astype(np.float16), f"{name}.half_scales"),
    ]
