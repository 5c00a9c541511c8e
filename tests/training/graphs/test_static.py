"""Graphs of static encoders, and their stored tables."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.inference.onnx_session import EncoderSession
from training.graphs.static import Precision, static_graph, store

TABLE = np.random.default_rng(0).standard_normal((50, 128)).astype(np.float32) * 0.3
PRECISIONS: tuple[Precision, ...] = ("fp32", "int8", "int4")


@pytest.fixture(scope="module", params=PRECISIONS)
def session(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[EncoderSession, np.ndarray]:
    stored = store(TABLE, request.param)
    path = tmp_path_factory.mktemp("graph") / "encoder.onnx"
    path.write_bytes(static_graph(stored))
    return EncoderSession(path, dimension=128), stored.widened()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(lengths=st.lists(st.integers(0, 40), min_size=1, max_size=9), seed=st.integers(0, 99))
def test_the_graph_is_the_masked_mean_of_stored_rows(
    session: tuple[EncoderSession, np.ndarray], lengths: list[int], seed: int
) -> None:
    run, rows = session
    width = max(1, *lengths, 1)
    ids = np.random.default_rng(seed).integers(0, 50, (len(lengths), width))  # pads are any id
    mask = (np.arange(width) < np.array(lengths)[:, None]).astype(np.int64)
    expected = [
        rows[ids[i, :length]].mean(0) if length else np.zeros(128)
        for i, length in enumerate(lengths)
    ]
    np.testing.assert_allclose(run.run({"ids": ids, "mask": mask}), expected, atol=1e-5)


def test_rounding_is_symmetric_and_small() -> None:
    for precision, largest in (("fp32", 0.0), ("int8", 0.006), ("int4", 0.1)):
        stored = store(TABLE, precision)  # type: ignore[arg-type]
        error = np.abs(stored.widened() - TABLE)
        assert np.square(error).mean() ** 0.5 <= largest
    zeros = store(np.zeros((3, 64), dtype=np.float32), "int4")
    assert np.array_equal(zeros.widened(), np.zeros((3, 64)))


def test_fewer_bits_make_smaller_files() -> None:
    table = np.random.default_rng(0).standard_normal((1000, 128)).astype(np.float32)
    sizes = [len(static_graph(store(table, precision))) for precision in PRECISIONS]
    assert sizes[1] < 0.27 * sizes[0]
    assert sizes[2] < 0.15 * sizes[0]


def test_four_bits_need_whole_groups() -> None:
    with pytest.raises(ValueError, match="multiple of 64, not 100"):
        store(np.zeros((3, 100), dtype=np.float32), "int4")
