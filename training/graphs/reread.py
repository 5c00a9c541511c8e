"""The weights of an exported graph back in the encoder that it was traced from.

A traced graph has no names for most of its weights, so they are told by the order in which they are
used: an encoder of the same shape, whose weights are their own numbers, is traced beside it.
"""

from __future__ import annotations

import copy

import numpy as np
import numpy.typing as npt
import onnx
import torch
from onnx import ModelProto, TensorProto, numpy_helper

from training.encoders.beside import Beside
from training.graphs.static import StoredTable, Table, unpacked
from training.graphs.traced import traced_graph


def reread(encoder: Beside, graph: bytes) -> None:
    """Fill `encoder` with the weights of a graph of one like it, widened from what is stored.

    Args:
        encoder: Of the sizes that the graph has.
        graph: With weights in 8 and 4 bits (`training.graphs.compressed`).

    Raises:
        ValueError: It is the graph of an encoder of another kind, or other sizes.
    """
    model = onnx.load_from_string(graph)
    arrays = {weight.name: numpy_helper.to_array(weight) for weight in model.graph.initializer}
    turned = {node.output[0] for node in model.graph.node if node.op_type == "Transpose"}
    table = _table(arrays)
    widened = {
        name: values.T if name in turned else values for name, values in _widened(arrays).items()
    }
    theirs = [widened[name] for name in _used(model, set(widened))]
    parameters = list(encoder.parameters())
    order = _numbers_in_order(encoder)
    if len(theirs) != len(order):
        raise ValueError(f"the graph uses {len(theirs)} weights where {len(order)} are due")
    with torch.no_grad():
        for values, (number, transposed) in zip(theirs, order, strict=True):
            _fill(parameters[number], values.T if transposed else values)
        _fill(encoder.table, table)
        for name, buffer in encoder.named_buffers():
            values = next(array for told, array in arrays.items() if told.endswith(f".{name}"))
            _fill(buffer, values)


def _fill(target: torch.Tensor, values: npt.NDArray[np.generic]) -> None:
    if tuple(values.shape) != tuple(target.shape):
        raise ValueError(f"a weight is {list(values.shape)} where {list(target.shape)} is due")
    target.copy_(torch.from_numpy(np.array(values)))


def _widened(arrays: dict[str, npt.NDArray[np.generic]]) -> dict[str, Table]:
    """Return the weights as they lie in the file, by the name that nodes know them by."""
    found: dict[str, Table] = {}
    parts = {"codes", "scales", "packed", "half_scales"}
    for name, array in arrays.items():
        weight, _, part = name.rpartition(".")
        if part == "packed" and weight:
            found[weight] = _nibbles(array, arrays[f"{weight}.half_scales"])
        elif part == "codes" and f"{weight}.scales" in arrays:
            found[weight] = array.astype(np.float32) * arrays[f"{weight}.scales"].astype(np.float32)
        elif array.dtype == np.float32 and array.ndim and part not in parts:
            found[name] = np.asarray(array, dtype=np.float32)
    return found


def _table(arrays: dict[str, npt.NDArray[np.generic]]) -> Table:
    if "packed" not in arrays:
        raise ValueError("the graph's table is not in 4 bits")
    return _nibbles(arrays["packed"], arrays["half_scales"])


def _nibbles(packed: npt.NDArray[np.generic], scales: npt.NDArray[np.generic]) -> Table:
    codes = unpacked(packed.astype(np.uint8))
    return StoredTable("int4", codes, scales.astype(np.float32)).widened()


def _used(model: ModelProto, weights: set[str]) -> list[str]:
    """Return the names of `weights` in the order in which nodes first use them."""
    inputs = (name for node in model.graph.node for name in node.input)
    return list(dict.fromkeys(name for name in inputs if name in weights))


def _numbers_in_order(encoder: Beside) -> list[tuple[int, bool]]:
    """Return the numbers of the parameters but the table, as the graph uses them.

    With each comes whether the graph has it with outputs and inputs exchanged.
    """
    numbered = copy.deepcopy(encoder)
    with torch.no_grad():
        for number, weight in enumerate(numbered.parameters()):
            weight.fill_(number)
    model = onnx.load_from_string(traced_graph(numbered, features=(2,)))
    values = {
        weight.name: numpy_helper.to_array(weight)
        for weight in model.graph.initializer
        if weight.data_type == TensorProto.FLOAT
        and weight.dims
        and not weight.name.endswith(".table")
    }
    multipliers = {node.input[1] for node in model.graph.node if node.op_type == "MatMul"}
    return [(int(values[name].flat[0]), name in multipliers) for name in _used(model, set(values))]
