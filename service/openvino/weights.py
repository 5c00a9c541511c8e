"""A model's weights in the form that its precision computes with.

What OpenVINO is given it keeps for as long as the model lives: a matrix in fp32 stays beside the
bf16 copy that is multiplied, and one that lies the other way round stays beside its transpose. So
each weight is put in the form that is multiplied, [outputs, inputs], before the model is compiled.

In 8 bits the products stay as they are in meaning: weight = int8 code x scale, a scale for each
column of outputs (row of a word table). OpenVINO recognises the form and multiplies in 8 bits: with
`DYNAMIC_QUANTIZATION_GROUP_SIZE` each row of the activations gets a scale for each group of its
numbers, so a vector does not depend on what shares its batch.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import openvino as ov
from openvino import opset13 as ops
from openvino.passes import ConstantFolding, Manager

from service.inference.wishes import Precision

_LEAST_NUMBERS = 4096
"""Smaller weights stay as they are."""


def fold_constants(model: ov.Model) -> None:
    """Compute what follows from constants alone, in place.

    To be done first: later it would turn compressed weights back into what they were made of.
    """
    folding = Manager()
    folding.register_pass(ConstantFolding())
    folding.run_passes(model)


def store_weights(model: ov.Model, precision: Precision) -> int:
    """Put the large weights of `model` in the form of `precision`; return how many there were."""
    changed = 0
    for node in model.get_ordered_ops():
        kind = node.get_type_name()
        if kind == "MatMul":
            changed += _store_product(node, precision)
        elif kind == "Gather":
            changed += _store_table(node, precision)
    return changed


def _store_product(node: ov.Node, precision: Precision) -> bool:
    weight = _large_matrix(node.input_value(1))
    if weight is None:
        return False
    attributes = node.get_attributes()
    rows = weight if attributes["transpose_b"] else np.ascontiguousarray(weight.T)
    if precision == "int8":
        codes, scales = _codes(rows)
        stored = ops.multiply(ops.convert(ops.constant(codes), "f32"), ops.constant(scales))
    elif precision == "bf16":
        stored = _widened(_bfloat16(rows))
    else:
        stored = ops.constant(rows)
    turned = bool(attributes["transpose_a"])
    _replace(node, ops.matmul(node.input_value(0), stored, turned, True))
    return True


def _store_table(node: ov.Node, precision: Precision) -> bool:
    table, axis = _large_matrix(node.input_value(0)), node.input_value(2).get_node()
    if table is None or axis.get_type_name() != "Constant" or int(axis.get_data()) != 0:
        return False
    ids, first = node.input_value(1), ops.constant(0, dtype=np.int64)
    if precision == "int8":
        codes, scales = _codes(table)
        rows = ops.convert(ops.gather(ops.constant(codes), ids, first), "f32")
        _replace(node, ops.multiply(rows, ops.gather(ops.constant(scales), ids, first)))
    elif precision == "bf16":
        _replace(node, ops.convert(ops.gather(_bfloat16(table), ids, first), "f32"))
    return True


def _widened(halves: ov.Node) -> ov.Node:
    """Return `halves` as fp32 in meaning, and in memory as they are.

    OpenVINO would compute the conversion once and keep its result, but for the mark that it gives
    to weights that were compressed when a model was saved.
    """
    widened = ops.convert(halves, "f32")
    widened.get_rt_info()["decompression_0"] = ""
    return widened


def _bfloat16(numbers: npt.NDArray[np.float32]) -> ov.Node:
    """Return a constant of the nearest bf16 numbers, of two the even one, as processors round."""
    bits = numbers.view(np.uint32)
    rounded = ((bits + (0x7FFF + ((bits >> 16) & 1))) >> 16).astype(np.uint16)
    tensor = ov.Tensor(ov.Type.bf16, ov.Shape(numbers.shape))
    tensor.data[...] = rounded.view(
        tensor.data.dtype
    )  # NumPy has no bf16: the bits are what counts
    return ops.constant(tensor)


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
