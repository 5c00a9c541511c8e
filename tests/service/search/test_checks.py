from __future__ import annotations

import math

import numpy as np
import pytest

from service.errors import InputError
from service.search.checks import (
    check_count,
    check_unique,
    key_after,
    lowest_score,
    unit_vectors,
)
from tests.service.search.samples import sample_documents


@pytest.mark.parametrize("scale", [1e-38, 1e-20, 1.0, 1e20, 1e38])
def test_vectors_of_any_length_become_unit_vectors(scale: float) -> None:
    vectors = (np.array([[3.0, 4.0], [-1.0, 0.0]]) * scale / 4).astype(np.float32)
    expected = np.array([[0.6, 0.8], [-1.0, 0.0]])
    np.testing.assert_allclose(unit_vectors(vectors, dimension=2), expected, rtol=1e-5)


def test_zero_vector_stays_zero() -> None:
    assert not unit_vectors(np.zeros((1, 3), dtype=np.float32), dimension=3).any()


def test_no_vectors_are_fine() -> None:
    assert unit_vectors(np.empty((0, 3), dtype=np.float32), dimension=3, rows=0).shape == (0, 3)


@pytest.mark.parametrize(
    ("vectors", "at_fault"),
    [
        (np.ones((2, 4)), "vectors"),
        (np.ones(3), "vectors"),
        (np.ones((3, 3)), "vectors"),
        (np.array([[1.0, 0, 0], [0, np.nan, 0]]), "vectors[1]"),
        (np.array([[np.inf, 0, 0], [0, 1, 0]]), "vectors[0]"),
    ],
)
def test_vectors_that_do_not_fit_are_refused(
    vectors: np.typing.NDArray[np.float64], at_fault: str
) -> None:
    with pytest.raises(InputError) as caught:
        unit_vectors(vectors.astype(np.float32), dimension=3, rows=2)
    assert caught.value.field == at_fault


def test_id_that_stands_twice_is_refused_at_its_second_place() -> None:
    documents = sample_documents(3)
    check_unique(documents)
    with pytest.raises(InputError, match="at 1 and 3") as caught:
        check_unique([*documents, documents[1]])
    assert caught.value.field == "documents[3].id"


def test_counts_begin_at_one() -> None:
    check_count("k", 1)
    with pytest.raises(InputError) as caught:
        check_count("k", 0)
    assert caught.value.field == "k"


def test_lowest_score_is_finite() -> None:
    assert lowest_score(None) == -math.inf
    assert lowest_score(0.5) == 0.5
    with pytest.raises(InputError):
        lowest_score(math.nan)


def test_cursor_is_a_row_key() -> None:
    assert key_after(None) == 0
    assert key_after("17") == 17
    for cursor in ("", "-1", "x", "１７", "9" * 19, "9" * 5000, "0" * 5000, "0" * 20 + "9" * 19):
        with pytest.raises(InputError, match="no cursor"):
            key_after(cursor)
