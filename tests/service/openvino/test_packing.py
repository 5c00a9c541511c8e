from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.service.openvino.conftest import LAYERS, WIDTH, WORDS

ov = pytest.importorskip("openvino", reason="it comes with the extra `openvino`")

from service.openvino.packing import pack_tokens  # noqa: E402
from service.openvino.session import packed_places  # noqa: E402
from service.openvino.weights import fold_constants  # noqa: E402


def folded(bert: Path) -> Any:  # noqa: ANN401 - openvino has no types
    model = ov.Core().read_model(bert)
    fold_constants(model)
    return model


def test_tokens_are_laid_out_for_attention_alone(bert: Path) -> None:
    packed = pack_tokens(folded(bert))
    assert packed is not None
    shapes = [
        str(node.get_output_partial_shape(0))
        for node in packed.get_ordered_ops()
        if node.get_type_name() == "MatMul" and len(node.get_output_partial_shape(0)) == 3
    ]
    # Four products with weights a layer: query, key and value at once, output, two of the middle.
    assert len(shapes) == 4 * LAYERS
    assert all(shape.startswith("[1,") for shape in shapes)


def test_packed_and_padded_give_the_same_token_vectors(bert: Path) -> None:
    mask = np.zeros((4, 24), dtype=np.int64)
    for row, length in enumerate((24, 3, 11, 1)):
        mask[row, :length] = 1
    ids = np.random.default_rng(2).integers(1, WORDS, mask.shape) * mask
    core, plain = ov.Core(), {"INFERENCE_PRECISION_HINT": "f32"}
    expected = core.compile_model(folded(bert), "CPU", plain)({"ids": ids, "mask": mask})[0]
    packed = core.compile_model(pack_tokens(folded(bert)), "CPU", plain)
    found = packed({"ids": ids, "mask": mask, **packed_places(mask)})[0]
    assert found.shape == (4, 24, WIDTH)
    np.testing.assert_allclose(found[mask > 0], expected[mask > 0], atol=2e-5)


def test_rows_are_rounded_up_so_that_few_shapes_come() -> None:
    mask = np.ones((3, 7), dtype=np.int64)
    assert packed_places(mask)["packed_tokens"].shape == (32,)
    assert packed_places(np.zeros((2, 8), dtype=np.int64))["packed_tokens"].shape == (16,)


@pytest.mark.parametrize("width", [8, 24])
def test_a_text_alone_has_as_many_rows_as_it_is_wide(width: int) -> None:
    mask = np.ones((1, width), dtype=np.int64)
    mask[0, -3:] = 0
    assert packed_places(mask)["packed_tokens"].shape == (width,)
