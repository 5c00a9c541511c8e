from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from service.errors import BackendError, BundleError
from service.inference.onnx_session import EncoderSession
from service.text.tokenizer import pad
from tests.tiny_bundle import mean_of_token_vectors

TABLE = np.arange(12, dtype=np.float32).reshape(4, 3)


def save(path: Path, graph: bytes) -> Path:
    path.write_bytes(graph)
    return path


@pytest.fixture
def session(tmp_path: Path) -> EncoderSession:
    return EncoderSession(save(tmp_path / "g.onnx", mean_of_token_vectors(TABLE)), dimension=3)


def test_result_is_the_masked_mean(session: EncoderSession) -> None:
    vectors = session.run(pad([[0, 2], [1], []], padding_id=3))
    np.testing.assert_allclose(vectors, [(TABLE[0] + TABLE[2]) / 2, TABLE[1], [0, 0, 0]])


def test_id_outside_the_table_is_a_backend_error(session: EncoderSession) -> None:
    with pytest.raises(BackendError, match="failed"):
        session.run(pad([[99]], padding_id=0))


def test_nan_never_leaves(tmp_path: Path) -> None:
    broken = TABLE.copy()
    broken[2, 1] = np.nan
    session = EncoderSession(save(tmp_path / "g.onnx", mean_of_token_vectors(broken)), dimension=3)
    session.run(pad([[1]], padding_id=0))
    with pytest.raises(BackendError, match="not finite"):
        session.run(pad([[2]], padding_id=0))


def test_other_width_than_promised_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match="3 dimensions where the manifest says 4"):
        EncoderSession(save(tmp_path / "g.onnx", mean_of_token_vectors(TABLE)), dimension=4)


def test_file_that_is_no_graph_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match="cannot be loaded"):
        EncoderSession(save(tmp_path / "g.onnx", b"nothing"), dimension=3)


def test_fixed_shape_is_refused(tmp_path: Path) -> None:
    model = onnx.load_model_from_string(mean_of_token_vectors(TABLE))
    model.graph.input[0].CopyFrom(
        helper.make_tensor_value_info("ids", TensorProto.INT64, [1, "tokens"])
    )
    with pytest.raises(BundleError, match="must be dynamic"):
        EncoderSession(save(tmp_path / "g.onnx", model.SerializeToString()), dimension=3)
