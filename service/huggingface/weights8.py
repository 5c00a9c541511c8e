"""A graph's weights in 8 bits, a scale for each few numbers; needs `onnx`.

Products go through ONNX Runtime's MatMulNBits: weights stay in 8 bits in memory, and each row of
the activations has its own scales, so a vector does not depend on what shares its batch. (Dynamic
quantisation, with one scale for a whole batch, makes it do so: docs/own-models.md.)
Word tables are gathered as 8-bit rows and then widened, which needs standard operators only.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

_BLOCK = 32
"""Numbers of a column that share a scale."""

_LEAST_NUMBERS = 4096
"""Smaller weights stay as they are."""

_DOMAIN = "com.microsoft"


def store_in_8_bits(graph: Path) -> bytes:
    """Return `graph` with its large weights in 8 bits, as one file.

    Args:
        graph: An ONNX file; weights beside it are read too.
    """
    model = onnx.load(graph)
    weights = {tensor.name: tensor for tensor in model.graph.initializer}
    nodes: list[NodeProto] = []
    added: list[TensorProto] = []
    for node in model.graph.node:
        made = _smaller(node, weights, added)
        nodes.extend(made or [node])
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    model.graph.initializer.extend(added)
    _drop_unused(model)
    if all(opset.domain != _DOMAIN for opset in model.opset_import):
        model.opset_import.append(helper.make_opsetid(_DOMAIN, 1))
    return bytes(model.SerializeToString())


def _smaller(
    node: NodeProto, weights: dict[str, TensorProto], added: list[TensorProto]
) -> list[NodeProto] | None:
    place = {"MatMul": 1, "Gather": 0}.get(node.op_type)
    if place is None or node.input[place] not in weights:
        return None
    tensor = weights[node.input[place]]
    if tensor.data_type != TensorProto.FLOAT or len(tensor.dims) != 2:
        return None
    array = numpy_helper.to_array(tensor)
    if array.size < _LEAST_NUMBERS:
        return None
    number = len(added)
    if node.op_type == "MatMul":
        return _product(node, array, f"weights8_{number}", added)
    return _lookup(node, array, f"weights8_{number}", added)


def _product(
    node: NodeProto, array: npt.NDArray[np.float32], name: str, added: list[TensorProto]
) -> list[NodeProto]:
    """Return MatMulNBits: B is uint8 [N, blocks, block] around 128, scales float32 [N, blocks]."""
    depth, width = array.shape
    blocks = -(-depth // _BLOCK)
    padded = np.zeros((width, blocks * _BLOCK), dtype=np.float32)
    padded[:, :depth] = array.T
    grouped = padded.reshape(width, blocks, _BLOCK)
    codes, scales = _codes(grouped)
    shifted = (codes.astype(np.int16) + 128).astype(np.uint8)
    added.append(numpy_helper.from_array(shifted, name))
    added.append(numpy_helper.from_array(scales[..., 0].reshape(-1), f"{name}_scales"))
    attributes = {"K": depth, "N": width, "bits": 8, "block_size": _BLOCK, "accuracy_level": 4}
    inputs = [node.input[0], name, f"{name}_scales"]
    return [
        helper.make_node("MatMulNBits", inputs, list(node.output), domain=_DOMAIN, **attributes)
    ]


def _lookup(
    node: NodeProto, array: npt.NDArray[np.float32], name: str, added: list[TensorProto]
) -> list[NodeProto] | None:
    if any(a.name == "axis" and a.i != 0 for a in node.attribute):
        return None
    codes, scales = _codes(array)
    added.append(numpy_helper.from_array(codes, name))
    added.append(numpy_helper.from_array(scales, f"{name}_scales"))
    ids = node.input[1]
    return [
        helper.make_node("Gather", [name, ids], [f"{name}_rows"]),
        helper.make_node("Cast", [f"{name}_rows"], [f"{name}_wide"], to=TensorProto.FLOAT),
        helper.make_node("Gather", [f"{name}_scales", ids], [f"{name}_scale"]),
        helper.make_node("Mul", [f"{name}_wide", f"{name}_scale"], list(node.output)),
    ]


def _codes(
    groups: npt.NDArray[np.float32],
) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float32]]:
    """Return int8 codes and float32 scales [..., 1], one a group of the last axis."""
    scales = np.abs(groups).max(axis=-1, keepdims=True) / np.float32(127)
    codes = np.rint(groups / np.where(scales == 0, np.float32(1), scales))
    return codes.astype(np.int8), scales.astype(np.float32)


def _drop_unused(model: ModelProto) -> None:
    used = {name for node in model.graph.node for name in node.input}
    kept = [tensor for tensor in model.graph.initializer if tensor.name in used]
    del model.graph.initializer[:]
    model.graph.initializer.extend(kept)
