"""A model's weights in 8 bits, a scale for each column of outputs (rows of a word table).

The products stay as they are in meaning: weight = int8 code x scale. OpenVINO recognises the form
and multiplies in 8 bits: with `DYNAMIC_QUANTIZATION_GROUP_SIZE` each row of the activations gets a
scale for each group of its numbers, so a vector does not depend on what shares its batch.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import openvino as ov
from openvino import opset13 as ops
from openvino.passes import ConstantFolding, Manager

_LEAST_NUMBERS = 4096
"""Smaller weights stay as they are."""


def fold_constants(model: ov.Model) -> None:
    """Compute what follows from constants alone, in place.

    To be done first: later it would turn compressed weights back into what they were made of.
    """
    folding = Manager()
    folding.register_pass(ConstantFolding())
    folding.run_passes(model)


def compress_weights(model: ov.Model) -> int:
    """Put the large weights of `model` into 8 bits, in place; return how many there were."""
    changed = 0
    for node in model.get_ordered_ops():
        kind = node.get_type_name()
        if kind == "MatMul":
            changed += _compress_product(node)
        elif kind == "Gather":
            changed += _compress_table(node)
    return changed


def _compress_product(node: ov.Node) -> bool:
    weight = _large_matrix(node.input_value(1))
    if weight is None:
        return False
    turned = bool(node.get_attributes()["transpose_b"])
    codes, scales = _codes(weight if turned else weight.T)
    restored = ops.multiply(ops.convert(ops.constant(codes), "f32"), ops.constant(scales))
    product = ops.matmul(
        node.input_value(0), restored, bool(node.get_attributes()["transpose_a"]), True
    )
    _replace(node, product)
    return True


def _compress_table(node: ov.Node) -> bool:
    table, axis = _large_matrix(node.input_value(0)), node.input_value(2).get_node()
    if table is None or axis.get_type_name() != "Constant" or int(axis.get_data()) != 0:
        return False
    codes, scales = _codes(table)
    ids, first = node.input_value(1), ops.constant(0, dtype=np.int64)
    rows = ops.convert(ops.gather(ops.constant(codes), ids, first), "f32")
    _replace(node, ops.multiply(rows, ops.gather(ops.constant(scales), ids, first)))
    return True


def _replace(node: ov.Node, by: ov.Node) -> None:
    by.set_friendly_name(node.get_friendly_name())
    node.output(0).replace(by.output(0))


def _large_matrix(source: ov.Output) -> npt.NDArray[np.float32] | None:
    node = source.get_node()
    if node.get_type_name() != "Constant" or len(node.get_output_shape(0)) != 2:
        return None
    array: npt.NDArray[np.float32] = node.get_data()
    return array if array.dtype == np.float32 and array.size >= _LEAST_NUMBERS else None


def _codes(
    rows: npt.NDArray[np.float32],
) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float32]]:
    """Return int8 codes and float32 scales [rows, 1]."""
    scales = np.abs(rows).max(axis=1, keepdims=True) / np.float32(127)
    scales = np.where(scales == 0, np.float32(1), scales).astype(np.float32)
    return np.rint(rows / scales).astype(np.int8), scales
