"""Rewrite an encoder so that what is done token by token is done to real tokens alone.

A padded batch [B, T, D] costs B x T tokens, though attention is the only part of an encoder that
needs the square form. Here the real tokens lie one after the other, [1, N, D], in every product
with weights and in all that is done to each token by itself; before attention they are laid out
as [B, T, D] and after it taken together again (the removal of padding of ByteTransformer, Zhai et
al. 2023, section 4.1, as a transformation of any graph).

The pass follows the graph from its inputs. An output is *packed* when it was computed from packed
tokens; an operation that is not known to work token by token gets its inputs laid out again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import openvino as ov
from openvino import opset13 as ops

TAKEN = "packed_tokens"
"""Input int64 [N]: which of the B x T places the packed tokens come from; T counts the tokens that
the graph puts before each text."""
PLACES = "packed_places"
"""Input int64 [B, T]: which packed token lies at each place; any one where there is a pad."""

_ALONE = {
    "Erf": ops.erf,
    "Tanh": ops.tanh,
    "Relu": ops.relu,
    "Sigmoid": ops.sigmoid,
    "Sqrt": ops.sqrt,
}
_PAIRS = {
    "Add": ops.add,
    "Subtract": ops.subtract,
    "Multiply": ops.multiply,
    "Divide": ops.divide,
    "Power": ops.power,
}
_TOKENS_RANK = 3  # [batch, tokens, width]

Key = tuple[str, int]


def pack_tokens(model: ov.Model) -> ov.Model | None:
    """Return `model` with the inputs `TAKEN` and `PLACES` besides; None where nothing is gained.

    Args:
        model: Of an encoder, `[batch, tokens]` in, its constants folded; it is changed.
    """
    packer = _Packer()
    for node in model.get_ordered_ops():
        packer.visit(node)
    if not packer.products:
        return None
    parameters = [*model.get_parameters(), packer.taken, packer.places]
    return ov.Model(model.get_results(), parameters, model.get_friendly_name())


def leading_tokens(model: ov.Model) -> int:
    """Return how many tokens of its own `model` puts before each text: 0 for most.

    They are as real as the text's: the places that `PLACES` and `TAKEN` speak of begin with them.
    """
    for node in model.get_ordered_ops():
        if node.get_type_name() != "Concat" or node.get_attributes()["axis"] != 1:
            continue
        before, *texts = (node.input_value(place) for place in range(node.get_input_size()))
        shape = before.get_partial_shape()
        if len(texts) == 1 and len(shape) == _TOKENS_RANK and _of_tokens(node.output(0)):
            return int(shape[1].get_length()) if shape[1].is_static else 0
    return 0


class _Packer:
    """What is known while the graph is walked.

    Attributes:
        taken: The parameter `TAKEN`.
        places: The parameter `PLACES`.
        products: How many products with weights work on packed tokens.
    """

    def __init__(self) -> None:
        self.taken = ops.parameter([-1], np.int64, name=TAKEN)
        self.places = ops.parameter([-1, -1], np.int64, name=PLACES)
        for parameter, name in ((self.taken, TAKEN), (self.places, PLACES)):
            parameter.output(0).set_names({name})
        self.products = 0
        self._packed: dict[Key, ov.Output] = {}
        self._laid_out: dict[Key, ov.Output] = {}
        self._first = ops.constant(0, dtype=np.int64)

    def visit(self, node: ov.Node) -> None:
        """Compute `node` on packed tokens if it can be, else lay its inputs out."""
        inputs = [node.input_value(place) for place in range(node.get_input_size())]
        packed = self._on_packed(node, inputs)
        if packed is not None:
            self._packed[_key(node.output(0))] = packed.output(0)
            return
        for place, source in enumerate(inputs):
            if _key(source) in self._packed:
                node.input(place).replace_source_output(self._lay_out(source))

    def _on_packed(self, node: ov.Node, inputs: Sequence[ov.Output]) -> ov.Node | None:
        kind, attributes = node.get_type_name(), node.get_attributes()
        if kind == "MatMul":
            return self._product(node, inputs)
        if kind in _PAIRS:
            return self._pair(_PAIRS[kind], inputs)
        if not inputs or _key(inputs[0]) not in self._packed:
            return None
        first = self._packed[_key(inputs[0])]
        if kind in _ALONE:
            return _ALONE[kind](first)
        if kind == "Gelu":
            return ops.gelu(first, attributes["approximation_mode"])
        if kind == "MVN" and _last_axis(inputs[1]):
            return ops.mvn(
                first,
                inputs[1],
                attributes["normalize_variance"],
                attributes["eps"],
                attributes["eps_mode"],
            )
        if kind == "ReduceMean" and attributes["keep_dims"] and _last_axis(inputs[1]):
            return ops.reduce_mean(first, inputs[1], True)
        return None

    def _product(self, node: ov.Node, inputs: Sequence[ov.Output]) -> ov.Node | None:
        attributes = node.get_attributes()
        if attributes["transpose_a"] or not _is_weight(inputs[1]) or not _of_tokens(inputs[0]):
            return None
        self.products += 1
        return ops.matmul(self._pack(inputs[0]), inputs[1], False, attributes["transpose_b"])

    def _pair(
        self, make: Callable[[ov.Output, ov.Output], ov.Node], inputs: Sequence[ov.Output]
    ) -> ov.Node | None:
        if all(_key(source) not in self._packed for source in inputs):
            return None
        if not all(_for_each_token(source) or _of_tokens(source) for source in inputs):
            return None
        first, second = (s if _for_each_token(s) else self._pack(s) for s in inputs)
        return make(first, second)

    def _pack(self, source: ov.Output) -> ov.Output:
        key = _key(source)
        if key not in self._packed:
            width = source.get_partial_shape()[2].get_length()
            rows = ops.reshape(source, ops.constant([-1, width], dtype=np.int64), False)
            taken = ops.gather(rows, self.taken, self._first)
            self._packed[key] = ops.unsqueeze(taken, self._first).output(0)
        return self._packed[key]

    def _lay_out(self, source: ov.Output) -> ov.Output:
        key = _key(source)
        if key not in self._laid_out:
            rows = ops.squeeze(self._packed[key], self._first)
            self._laid_out[key] = ops.gather(rows, self.places, self._first).output(0)
        return self._laid_out[key]


def _key(output: ov.Output) -> Key:
    return output.get_node().get_friendly_name(), output.get_index()


def _of_tokens(source: ov.Output) -> bool:
    """Return whether it is [batch, tokens, width], the width known."""
    shape = source.get_partial_shape()
    if shape.rank.is_dynamic or len(shape) != _TOKENS_RANK:
        return False
    return bool(shape[0].is_dynamic and shape[1].is_dynamic and shape[2].is_static)


def _for_each_token(source: ov.Output) -> bool:
    """Return whether it is the same for all tokens: a constant with no other axis than the last."""
    if source.get_node().get_type_name() != "Constant":
        return False
    return all(size == 1 for size in list(source.get_shape())[:-1])


def _is_weight(source: ov.Output) -> bool:
    """Return whether it is a constant matrix, compressed or not."""
    node = source.get_node()
    while node.get_type_name() in ("Multiply", "Convert"):
        node = node.input_value(0).get_node()
    shape = source.get_partial_shape()
    return bool(node.get_type_name() == "Constant" and shape.rank.is_static and len(shape) == 2)


def _last_axis(source: ov.Output) -> bool:
    node = source.get_node()
    if node.get_type_name() != "Constant":
        return False
    return node.get_data().ravel().tolist() in ([-1], [_TOKENS_RANK - 1])
