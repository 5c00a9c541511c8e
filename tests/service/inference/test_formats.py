from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from service.inference.formats import to_format
from service.inference.vectors import normalise

VECTORS = normalise(np.random.default_rng(5).standard_normal((200, 384)).astype(np.float32))


def cosines(first: npt.ArrayLike, second: npt.ArrayLike) -> npt.NDArray[np.float32]:
    a, b = (normalise(np.asarray(v, dtype=np.float32)) for v in (first, second))
    result: npt.NDArray[np.float32] = (a * b).sum(axis=1)
    return result


@pytest.mark.parametrize(("format", "least"), [("float32", 1), ("float16", 1 - 1e-6)])
def test_floats_keep_the_direction(format: str, least: float) -> None:
    formatted = to_format(VECTORS, format)  # type: ignore[arg-type]
    assert formatted.dtype.name == format
    assert cosines(formatted, VECTORS).min() >= least - 1e-6


def test_int8_keeps_the_direction_and_uses_its_range() -> None:
    formatted = to_format(VECTORS, "int8")
    assert formatted.dtype == np.int8
    assert (np.abs(formatted.astype(int)).max(axis=1) == 127).all()
    assert cosines(formatted, VECTORS).min() > 0.9998


def test_bits_are_the_signs_first_dimension_highest() -> None:
    vector = np.full((1, 10), -1, dtype=np.float32)
    vector[0, [0, 9]] = 1
    np.testing.assert_array_equal(to_format(vector, "ubinary"), [[0b10000000, 0b01000000]])
    np.testing.assert_array_equal(to_format(vector, "binary"), [[0, -64]])


def test_bits_agree_with_cosines() -> None:
    bits = np.unpackbits(to_format(VECTORS, "ubinary").astype(np.uint8), axis=1)
    agreement = (bits[:1] == bits[1:]).mean(axis=1)
    assert np.corrcoef(agreement, VECTORS[1:] @ VECTORS[0])[0, 1] > 0.5


@given(
    hnp.arrays(np.float32, (3, 5), elements=st.floats(-1e3, 1e3, width=32)),
    st.sampled_from(["float32", "float16", "int8", "binary", "ubinary"]),
)
def test_any_vectors_can_be_had_in_any_format(
    vectors: npt.NDArray[np.float32], format: str
) -> None:
    formatted = to_format(vectors, format)  # type: ignore[arg-type]
    assert len(formatted) == 3
    assert np.isfinite(formatted.astype(np.float32)).all()
    if format == "int8":
        assert (np.sign(formatted) * np.sign(vectors) >= 0).all()
