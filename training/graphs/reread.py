"""The weights of an exported graph back in the encoder that it was traced from.

A traced graph has no names for most of its weights, so they are told by the order in which they are
used: an encoder of the same shape, whose weights are their own numbers, is traced beside it.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import onnx
import torch
from onnx import ModelProto, TensorProto, numpy_helper
from torch import nn

from training.e5 import empty_body
from training.encoders.product_vectors import ProductVectors
from training.encoders.settled import SettledLayers
from training.graphs.static import StoredTable, Table
from training.graphs.traced import traced_graph

Kind = TypeVar("Kind", bound=np.generic)


def reread(graph: bytes) -> SettledLayers:
    """Return the encoder that `graph` was made of, with the weights that are stored.

    Args:
        graph: With weights in 8 and 4 bits (`training.graphs.compressed`).

    Raises:
        ValueError: It is the graph of an encoder of another kind, or other sizes.
    """
    model = onnx.load_from_string(graph)
    arrays = {weight.name: numpy_helper.to_array(weight) for weight in model.graph.initializer}
    widened = _widened(arrays)
    encoder = _empty(arrays, widened)
    theirs = [widened[name] for name in _used(model, set(widened))]
    parameters = list(encoder.parameters())
    order = _numbers_in_order(encoder)
    if len(theirs) != len(order):
        raise ValueError(f"the graph uses {len(theirs)} weights where {len(order)} are due")
    with torch.no_grad():
        for values, (number, transposed) in zip(theirs, order, strict=True):
            _fill(parameters[number], values.T if transposed else values)
        for name, buffer in encoder.named_buffers():
            _fill(buffer, _ending(arrays, f".{name}"))
    return encoder


def _empty(arrays: dict[str, npt.NDArray[np.generic]], widened: dict[str, Table]) -> SettledLayers:
    """Return an encoder of the graph's sizes, to be filled."""
    codes, offsets = _ending(arrays, ".read.codes"), _ending(arrays, ".read.offsets")
    marks, places = _ending(widened, ".marks"), _ending(widened, ".places")
    body = empty_body()
    body.places = nn.Parameter(torch.zeros(places.shape))
    read = ProductVectors.empty(len(codes), places.shape[1], len(offsets))
    return SettledLayers(read, body, torch.zeros(marks.shape))


def _ending(arrays: Mapping[str, npt.NDArray[Kind]], ending: str) -> npt.NDArray[Kind]:
    found = next((array for name, array in arrays.items() if name.endswith(ending)), None)
    if found is None:
        raise ValueError(f"the graph has nothing that is named {ending}")
    return found


def _fill(target: torch.Tensor, values: npt.NDArray[np.generic]) -> None:
    if tuple(values.shape) != tuple(target.shape):
        raise ValueError(f"a weight is {list(values.shape)} where {list(target.shape)} is due")
    target.copy_(torch.from_numpy(np.array(values)))


def _widened(arrays: dict[str, npt.NDArray[np.generic]]) -> dict[str, Table]:
    """Return the weights as they lie in the file, by the name that nodes know them by."""
    found: dict[str, Table] = {}
    for name, array in arrays.items():
        weight, _, part = name.rpartition(".")
        if part == "codes" and f"{weight}.half_scales" in arrays:
            found[weight] = _from_blocks(array, arrays[f"{weight}.half_scales"])
        elif part == "codes" and f"{weight}.scales" in arrays:
            found[weight] = array.astype(np.float32) * arrays[f"{weight}.scales"].astype(np.float32)
        elif array.dtype == np.float32 and array.ndim and part != "scales":
            found[name] = np.asarray(array, dtype=np.float32)
    return found


def _from_blocks(codes: npt.NDArray[np.generic], scales: npt.NDArray[np.generic]) -> Table:
    """Return the codes times their scales: of rows, or of columns where there are fewer scales."""
    if len(scales) < len(codes):
        return _from_blocks(codes.T, scales.T).T
    return StoredTable("int4", codes.astype(np.int8), scales.astype(np.float32)).widened()


def _used(model: ModelProto, weights: set[str]) -> list[str]:
    """Return the names of `weights` in the order in which nodes first use them."""
    inputs = (name for node in model.graph.node for name in node.input)
    return list(dict.fromkeys(name for name in inputs if name in weights))


def _numbers_in_order(encoder: SettledLayers) -> list[tuple[int, bool]]:
    """Return the numbers of the parameters as the graph uses them.

    With each comes whether the graph has it with outputs and inputs exchanged.
    """
    numbered = copy.deepcopy(encoder)
    with torch.no_grad():
        for number, weight in enumerate(numbered.parameters()):
            weight.fill_(number)
    model = onnx.load_from_string(traced_graph(numbered))
    values = {
        weight.name: numpy_helper.to_array(weight)
        for weight in model.graph.initializer
        if weight.data_type == TensorProto.FLOAT and weight.dims
    }
    multipliers = {node.input[1] for node in model.graph.node if node.op_type == "MatMul"}
    return [(int(values[name].flat[0]), name in multipliers) for name in _used(model, set(values))]
