"""The nearest documents of each format, with those that are equally near."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.vector_formats import comparable, demo_accuracy
from service.inference.formats import Format, to_format


def test_of_documents_that_are_equally_near_the_share_that_is_right_counts() -> None:
    rows = np.array([[1, 1, 1], [1, 1, -1], [1, -1, 1], [-1, -1, -1]], dtype=np.float32)
    # First and last have two nearest, one of them right; the second is right, the third wrong.
    assert demo_accuracy(rows, np.array(["a", "a", "b", "b"])) == pytest.approx(100 * 2 / 4)


def test_bits_agree_alike_on_every_machine() -> None:
    vectors = np.random.default_rng(0).standard_normal((20, 384)).astype(np.float32)
    formats: tuple[Format, ...] = ("binary", "ubinary")
    for format in formats:
        rows = comparable(to_format(vectors, format), format)
        assert np.array_equal(rows, np.where(vectors > 0, 1, -1))
        assert np.array_equal(rows @ rows.T, np.rint(rows @ rows.T))
