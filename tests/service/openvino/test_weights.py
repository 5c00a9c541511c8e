from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from service.inference.wishes import Precision
from tests.service.openvino.conftest import LAYERS, PLACES, WIDTH, WORDS

ov = pytest.importorskip("openvino", reason="it comes with the extra `openvino`")

from service.openvino.packing import pack_tokens  # noqa: E402
from service.openvino.session import (  # noqa: E402
    packed_places,
    properties,
    supported_precisions,
)
from service.openvino.weights import fold_constants, store_weights  # noqa: E402

PRODUCTS = 4 * LAYERS
TYPES = {"int8": "i8", "bf16": "bf16", "fp32": "f32"}


def stored(bert: Path, precision: Precision) -> Any:  # noqa: ANN401 - openvino has no types
    model = ov.Core().read_model(bert)
    fold_constants(model)
    assert store_weights(model, precision) == PRODUCTS + 1  # and the words
    return model


def vectors(compiled: Any) -> np.ndarray[Any, np.dtype[np.float32]]:  # noqa: ANN401
    mask = np.ones((3, 8), dtype=np.int64)
    ids = np.random.default_rng(3).integers(1, WORDS, mask.shape)
    names = {name for port in compiled.inputs for name in port.get_names()}
    places = packed_places(mask) if len(names) > 2 else {}
    found: np.ndarray[Any, np.dtype[np.float32]] = compiled({"ids": ids, "mask": mask, **places})[0]
    return found


def large_constants(model: Any) -> list[str]:  # noqa: ANN401
    """Return the types of the matrices that products and the words' table read."""
    return [
        node.get_output_element_type(0).get_type_name()
        for node in model.get_ordered_ops()
        if node.get_output_size()
        and node.get_output_partial_shape(0).is_static
        and len(shape := node.get_output_shape(0)) == 2
        and min(shape) >= WIDTH
        and shape[0] != PLACES  # a table, but a small one
    ]


def word_table(model: Any) -> Any:  # noqa: ANN401
    """Return the numbers that words are looked up in."""
    return next(
        node.get_data().copy()  # the model may be gone before its numbers are read
        for node in model.get_ordered_ops()
        if node.get_type_name() == "Constant" and list(node.get_output_shape(0)) == [WORDS, WIDTH]
    )


@pytest.mark.parametrize("precision", ["int8", "bf16", "fp32"])
def test_every_product_and_the_words_are_stored_as_the_precision_wants(
    bert: Path, precision: Precision
) -> None:
    found = [
        node.get_element_type().get_type_name()
        for node in stored(bert, precision).get_ordered_ops()
        if node.get_type_name() == "Constant" and np.prod(node.get_output_shape(0)) >= WIDTH * WIDTH
    ]
    assert found.count(TYPES[precision]) >= PRODUCTS + 1


def test_fp32_is_what_it_was(bert: Path) -> None:
    plain = {"INFERENCE_PRECISION_HINT": "f32"}
    core = ov.Core()
    before = vectors(core.compile_model(core.read_model(bert), "CPU", plain))
    after = vectors(core.compile_model(stored(bert, "fp32"), "CPU", plain))
    np.testing.assert_allclose(after, before, atol=1e-5)


def test_bf16_weights_are_the_nearest(bert: Path) -> None:
    before = ov.Core().read_model(bert)
    fold_constants(before)
    numbers = word_table(before)
    kept = word_table(stored(bert, "bf16"))
    bits = kept.view(np.uint16).astype(np.uint32) << 16
    relative = np.abs(bits.view(np.float32) - numbers) / np.abs(numbers)
    assert relative.max() <= 2.0**-8  # half a unit of the eighth bit; cut off it were twice that
    assert abs(np.mean(bits.view(np.float32) / numbers) - 1) < 2.0**-12  # neither up nor down


@pytest.mark.parametrize("precision", ["int8", "bf16", "fp32"])
def test_a_compiled_model_holds_each_matrix_in_one_form(bert: Path, precision: Precision) -> None:
    if precision not in supported_precisions():
        pytest.skip(f"this processor does not compute in {precision}")
    compiled = ov.Core().compile_model(
        pack_tokens(stored(bert, precision)), "CPU", properties(precision, 1)
    )
    assert vectors(compiled).shape == (3, 8, WIDTH)
    found = large_constants(compiled.get_runtime_model())
    assert found.count(TYPES[precision]) == len(found) == PRODUCTS + 1
