"""The ONNX graph of a static encoder, its table stored in 8 or 4 bits.

The graph is written node by node: it is smaller and clearer than what a tracer finds. In memory its
table takes 8 bits a number; only the rows that a batch needs are widened to floats.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import onnx
from onnx import NodeProto, TensorProto, helper, numpy_helper

Precision = Literal["fp32", "int8", "int4"]
"""How the table is stored: 4 bytes a number; 8 bits with a scale a row; 4 bits, a scale a group."""

GROUP = 64
"""Numbers of a row that share one scale at 4 bits."""

_STEPS = (7.5, 7.5 / 0.9, 7.5 / 0.8, 7.5 / 0.7, 8.0, 7.0, 6.0, 5.0, 4.0)
"""Steps of the scale that a group's largest number is tried as. With the whole numbers, what was
rounded before is rounded to itself."""

_OPSET = 18

Table = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class StoredTable:
    """A table as it is stored.

    Attributes:
        precision: How.
        codes: fp32: float32 [V, D]. int8: int8 [V, D]. int4: int8 [V, D] with values -8 .. 7.
        scales: int8: float32 [V, 1]. int4: float32 [V, D / 64]. fp32: [V, 0].
    """

    precision: Precision
    codes: npt.NDArray[np.float32] | npt.NDArray[np.int8]
    scales: Table

    def widened(self) -> Table:
        """Return float32 [V, D], the numbers that the graph computes with."""
        if self.precision == "fp32":
            return self.codes.astype(np.float32)
        groups = self.scales.shape[1]
        parts = self.codes.astype(np.float32).reshape(len(self.codes), groups, -1)
        return (parts * self.scales[:, :, None]).reshape(self.codes.shape)


def store(table: Table, precision: Precision) -> StoredTable:
    """Return float32 [V, D] rounded to `precision`, symmetrically around 0.

    Raises:
        ValueError: D is no multiple of the group at 4 bits.
    """
    if precision == "fp32":
        return StoredTable(precision, table, np.empty((len(table), 0), dtype=np.float32))
    if precision == "int8":
        scales = np.maximum(np.abs(table).max(1, keepdims=True), 1e-12) / 127
        return StoredTable(precision, np.rint(table / scales).astype(np.int8), scales)
    if table.shape[1] % GROUP:
        raise ValueError(f"4 bits need a width that is a multiple of {GROUP}, not {table.shape[1]}")
    return _store_int4(table)


def _store_int4(table: Table) -> StoredTable:
    groups = table.reshape(len(table), -1, GROUP)
    largest = np.maximum(np.abs(groups).max(2, keepdims=True), 1e-12)
    best_codes = np.zeros(groups.shape, dtype=np.int8)
    best_scales = np.ones(largest.shape, dtype=np.float32)
    best_error = np.full(largest.shape, np.inf, dtype=np.float32)
    for steps in _STEPS:
        # Scales are stored as half floats, so the codes are found for what the graph will read.
        scales = (largest / np.float32(steps)).astype(np.float16).astype(np.float32)
        scales = np.maximum(scales, np.float32(6e-8))
        codes = np.clip(np.rint(groups / scales), -8, 7)
        error = np.square(codes * scales - groups).sum(2, keepdims=True)
        better = error < best_error
        best_codes = np.where(better, codes.astype(np.int8), best_codes)
        best_scales = np.where(better, scales, best_scales)
        best_error = np.where(better, error, best_error)
    return StoredTable("int4", best_codes.reshape(table.shape), best_scales[:, :, 0])


def static_graph(stored: StoredTable) -> bytes:
    """Return the graph: ids, mask int64 [batch, tokens] -> vectors float32 [batch, D], the mean.

    Not normalised; rows of the mask that are all 0 give zeros. Standard ONNX operators only.
    """
    nodes, weights = _table_rows(stored)
    nodes += [
        helper.make_node("Cast", ["mask"], ["kept"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["kept", "first_axis"], ["selector"]),
        # [batch, 1, tokens] x [batch, tokens, D]: pads are multiplied by 0, and one product
        # replaces a multiplication and a sum over the largest tensor there is.
        helper.make_node("MatMul", ["selector", "rows"], ["sums"]),
        helper.make_node("Squeeze", ["sums", "first_axis"], ["sum"]),
        helper.make_node("ReduceSum", ["kept", "first_axis"], ["count"], keepdims=1),
        helper.make_node("Max", ["count", "one"], ["divisor"]),
        helper.make_node("Div", ["sum", "divisor"], ["vectors"]),
    ]
    weights += [
        numpy_helper.from_array(np.array([1], dtype=np.int64), "first_axis"),
        numpy_helper.from_array(np.array(1.0, dtype=np.float32), "one"),
    ]
    axes = ["batch", "tokens"]
    vectors = ["batch", stored.codes.shape[1]]
    graph = helper.make_graph(
        nodes,
        "mean_of_token_vectors",
        [helper.make_tensor_value_info(name, TensorProto.INT64, axes) for name in ("ids", "mask")],
        [helper.make_tensor_value_info("vectors", TensorProto.FLOAT, vectors)],
        weights,
    )
    opset = [helper.make_opsetid("", _OPSET)]
    model = helper.make_model(graph, opset_imports=opset, ir_version=10)
    onnx.checker.check_model(model)
    return bytes(model.SerializeToString())


def _table_rows(stored: StoredTable) -> tuple[list[NodeProto], list[TensorProto]]:
    """Return the nodes that make `rows` float32 [batch, tokens, D] of `ids`, and their weights."""
    if stored.precision == "fp32":
        table = numpy_helper.from_array(stored.codes, "table")
        return [helper.make_node("Gather", ["table", "ids"], ["rows"])], [table]
    nodes, weights = _codes(stored)
    width, groups = stored.codes.shape[1], stored.scales.shape[1]
    nodes += [
        helper.make_node("Gather", ["codes", "ids"], ["row_codes"]),
        helper.make_node("Cast", ["row_codes"], ["row_numbers"], to=TensorProto.FLOAT),
        helper.make_node("Gather", ["scales", "ids"], ["row_scales"]),
    ]
    if groups == 1:
        return [*nodes, helper.make_node("Mul", ["row_numbers", "row_scales"], ["rows"])], weights
    nodes += [
        helper.make_node("Reshape", ["row_numbers", "grouped"], ["group_numbers"]),
        helper.make_node("Unsqueeze", ["row_scales", "last_axis"], ["group_scales"]),
        helper.make_node("Mul", ["group_numbers", "group_scales"], ["group_rows"]),
        helper.make_node("Reshape", ["group_rows", "joined"], ["rows"]),
    ]
    shapes = {
        "grouped": [0, 0, groups, width // groups],
        "joined": [0, 0, width],
        "last_axis": [-1],
    }
    weights += [
        numpy_helper.from_array(np.array(shape, dtype=np.int64), name)
        for name, shape in shapes.items()
    ]
    return nodes, weights


def _packed(codes: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    """Return uint8 [V, D / 2] of codes [V, D] of -8 .. 7: the first half of a row in low bits."""
    low, high = np.split((codes.astype(np.int8) + 8).astype(np.uint8), 2, axis=1)
    both: npt.NDArray[np.uint8] = (low | (high << 4)).astype(np.uint8)
    return both


def _codes(stored: StoredTable) -> tuple[list[NodeProto], list[TensorProto]]:
    """Return the nodes that make `codes` int8 [V, D] and `scales` float32 [V, groups]."""
    if stored.precision == "int8":
        return [], [
            numpy_helper.from_array(stored.codes, "codes"),
            numpy_helper.from_array(stored.scales, "scales"),
        ]
    # Two codes a byte in the file. All that these nodes read is constant, so ONNX Runtime computes
    # them once, when it loads the graph, and each request gathers from 8-bit codes.
    constants = {
        "packed": _packed(stored.codes),
        "half_scales": stored.scales.astype(np.float16),
        "low_bits": np.array(0x0F, dtype=np.uint8),
        "four": np.array(4, dtype=np.uint8),
        "eight": np.array(8, dtype=np.int8),
    }
    return [
        helper.make_node("BitwiseAnd", ["packed", "low_bits"], ["low"]),
        helper.make_node("BitShift", ["packed", "four"], ["high"], direction="RIGHT"),
        helper.make_node("Concat", ["low", "high"], ["unsigned"], axis=1),
        helper.make_node("Cast", ["unsigned"], ["shifted"], to=TensorProto.INT8),
        helper.make_node("Sub", ["shifted", "eight"], ["codes"]),
        helper.make_node("Cast", ["half_scales"], ["scales"], to=TensorProto.FLOAT),
    ], [numpy_helper.from_array(value, name) for name, value in constants.items()]
