"""Writes an encoder's ONNX graph node by node; needs `onnx`, which serving does not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import onnx
from onnx import NodeProto, TensorProto, helper, numpy_helper

_OPSET = 18
_IR_VERSION = 10

Attribute = int | float | str | Sequence[int]
"""What an attribute of a node may be."""


class GraphBuilder:
    """A graph that grows: each call adds a node or a constant and returns its name.

    It takes `ids` and `mask`, int64 [batch, tokens], as every served encoder does.
    """

    def __init__(self) -> None:
        self._nodes: list[NodeProto] = []
        self._constants: list[TensorProto] = []

    def constant(self, value: npt.ArrayLike) -> str:
        """Add a constant; an array keeps its type, Python's numbers become int64 or float32."""
        array = np.asarray(value)
        if array.dtype == np.float64:
            array = array.astype(np.float32)
        name = f"constant_{len(self._constants)}"
        self._constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def node(
        self, operator: str, *inputs: str, attributes: Mapping[str, Attribute] | None = None
    ) -> str:
        """Add a node and return the name of its first output."""
        name = f"{operator.lower()}_{len(self._nodes)}"
        self._nodes.append(
            helper.make_node(operator, list(inputs), [name], **dict(attributes or {}))
        )
        return name

    def cast(self, value: str, dtype: int) -> str:
        """Add a conversion to an ONNX element type."""
        return self.node("Cast", value, attributes={"to": dtype})

    def finish(self, vectors: str, width: int, *, of_tokens: bool = False) -> bytes:
        """Return the graph that gives `vectors`, float32 [batch, width], as a checked file.

        Args:
            vectors: Name of what a node gave.
            width: Its last axis.
            of_tokens: Whether it is [batch, tokens, width].
        """
        self._nodes.append(helper.make_node("Identity", [vectors], ["vectors"]))
        axes = ["batch", "tokens"]
        shape = [*axes, width] if of_tokens else ["batch", width]
        graph = helper.make_graph(
            self._nodes,
            "encoder",
            [helper.make_tensor_value_info(n, TensorProto.INT64, axes) for n in ("ids", "mask")],
            [helper.make_tensor_value_info("vectors", TensorProto.FLOAT, shape)],
            self._constants,
        )
        model = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=_IR_VERSION
        )
        onnx.checker.check_model(model)
        return bytes(model.SerializeToString())
