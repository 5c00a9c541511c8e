from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from service.bundle.graph_builder import GraphBuilder
from service.errors import BackendError, BundleError, SettingsError
from service.inference.encoder import Encoder
from service.inference.execution import Execution, open_session
from service.inference.onnx_session import EncoderSession
from service.inference.pooling import Pooler
from service.inference.session import Session, Vectors
from service.inference.vectors import normalise
from service.inference.wishes import Precision
from service.shipped import shipped_models
from service.text.tokenizer import Tokens, pad
from tests.service.openvino.conftest import WIDTH, WORDS, write_bert
from tests.tiny_bundle import mean_of_token_vectors

ops = pytest.importorskip("openvino.opset13", reason="it comes with the extra `openvino`")

from service.openvino import session as session_module  # noqa: E402
from service.openvino.session import OpenVinoSession, _width, supported_precisions  # noqa: E402


def texts(*lengths: int) -> list[Tokens]:
    random = np.random.default_rng(1)
    return [random.integers(1, WORDS, length).tolist() for length in lengths]


def run(session: Session, tokens: Sequence[Tokens]) -> Vectors:
    return session.run(pad(tokens, padding_id=0))


def make(bert: Path, precision: Precision, streams: int = 1) -> OpenVinoSession:
    return OpenVinoSession(
        bert, dimension=WIDTH, precision=precision, streams=streams, pooler=Pooler("mean")
    )


def test_full_precision_gives_what_onnx_runtime_gives(bert: Path) -> None:
    tokens = texts(3, 40, 1, 17, 8, 0)
    expected = EncoderSession(bert, dimension=WIDTH, pooler=Pooler("mean"))
    np.testing.assert_allclose(run(make(bert, "fp32"), tokens), run(expected, tokens), atol=2e-5)


@pytest.mark.parametrize(
    ("precision", "least"), [("fp32", 0.999999), ("bf16", 0.999), ("int8", 0.99)]
)
def test_a_vector_is_the_same_alone_and_in_any_batch(
    bert: Path, precision: Precision, least: float
) -> None:
    if precision not in supported_precisions():
        pytest.skip(f"this processor has no {precision}")
    session = make(bert, precision)
    tokens = texts(5, 60, 12, 33, 2, 9)
    full = normalise(run(EncoderSession(bert, dimension=WIDTH, pooler=Pooler("mean")), tokens))
    together = normalise(run(session, tokens))
    alone = normalise(np.concatenate([run(session, [one]) for one in tokens]))
    assert (together * alone).sum(axis=1).min() > 0.9999
    assert (together * full).sum(axis=1).min() > least


def test_threads_do_not_disturb_each_other(bert: Path) -> None:
    session = make(bert, "fp32", streams=2)
    batches = [texts(n, n + 3, 2 * n) for n in range(1, 25)]
    expected = [run(session, batch) for batch in batches]
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda batch: run(session, batch), batches))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)


def test_a_graph_without_products_runs_unpacked(tmp_path: Path) -> None:
    table = np.arange(12, dtype=np.float32).reshape(4, 3)
    graph = tmp_path / "g.onnx"
    graph.write_bytes(mean_of_token_vectors(table))
    session = OpenVinoSession(graph, dimension=3, precision="fp32", streams=1)
    vectors = run(session, [[0, 2], [1], []])
    np.testing.assert_allclose(vectors, [(table[0] + table[2]) / 2, table[1], [0, 0, 0]])
    with pytest.raises(BundleError, match="3 dimensions where the manifest says 4"):
        OpenVinoSession(graph, dimension=4, precision="fp32", streams=1)


def test_a_token_may_have_several_features(tmp_path: Path) -> None:
    """As words with their n-grams: the sum of the rows of each word's ids."""
    table = np.arange(12, dtype=np.float32).reshape(4, 3)
    table[0] = 0  # of the pad
    builder = GraphBuilder()
    rows = builder.node("Gather", builder.constant(table), "ids")
    axes = builder.constant([1, 2])
    graph = onnx.load_model_from_string(
        builder.finish(builder.node("ReduceSum", rows, axes, attributes={"keepdims": 0}), 3)
    )
    shape = ["batch", "tokens", "features"]
    graph.graph.input[0].CopyFrom(helper.make_tensor_value_info("ids", TensorProto.INT64, shape))
    onnx.save(graph, tmp_path / "g.onnx")
    session = OpenVinoSession(tmp_path / "g.onnx", dimension=3, precision="fp32", streams=1)
    ids = np.array([[[1, 2], [3, 1]], [[2, 2], [0, 0]]], dtype=np.int64)
    vectors = session.run({"ids": ids, "mask": np.array([[1, 1], [1, 0]], dtype=np.int64)})
    np.testing.assert_allclose(vectors, table[ids].sum(axis=(1, 2)))


def test_numbers_that_are_not_finite_never_leave(tmp_path: Path) -> None:
    table = np.full((4, 3), np.nan, dtype=np.float32)
    graph = tmp_path / "g.onnx"
    graph.write_bytes(mean_of_token_vectors(table))
    with pytest.raises(BackendError, match="not finite"):
        run(OpenVinoSession(graph, dimension=3, precision="fp32", streams=1), [[1]])


def test_what_is_no_graph_is_refused(tmp_path: Path) -> None:
    graph = tmp_path / "g.onnx"
    graph.write_bytes(b"nothing")
    with pytest.raises(BundleError, match="cannot run"):
        OpenVinoSession(graph, dimension=3, precision="fp32", streams=1)


def test_a_precision_that_the_processor_lacks_is_refused(
    bert: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_module, "supported_precisions", lambda: ("fp32",))
    with pytest.raises(SettingsError, match="Choose one of fp32, or auto"):
        make(bert, "bf16")


def test_onnx_runtime_takes_no_other_precision(bert: Path) -> None:
    with pytest.raises(SettingsError, match="precision"):
        open_session(bert, dimension=WIDTH, execution=Execution(precision="int8"), pooler=None)


def test_one_more_run_than_streams_gets_a_request_of_its_own(
    bert: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []
    real = session_module._compile

    def compile_and_note(graph: Path, precision: Precision, streams: int) -> object:
        made.append(streams)
        return real(graph, precision, streams)

    monkeypatch.setattr(session_module, "_compile", compile_and_note)
    session = make(bert, "fp32", streams=2)
    batches = [texts(n, n + 3) for n in range(1, 40)]
    expected = [run(session, batch) for batch in batches]
    assert made == [2]
    with ThreadPoolExecutor(3) as threads:
        found = list(threads.map(lambda batch: run(session, batch), batches))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)
    assert made == [2, 1]


@pytest.mark.parametrize("before", [True, False])
def test_tokens_of_the_graphs_own_are_packed_where_they_stand_before_the_text(
    tmp_path: Path, *, before: bool
) -> None:
    graph = tmp_path / "g.onnx"
    graph.write_bytes(_marked(before=before))
    tokens = texts(5, 60, 12, 33, 2, 9)
    expected = run(EncoderSession(graph, dimension=WIDTH), tokens)
    found = OpenVinoSession(graph, dimension=WIDTH, precision="fp32", streams=1)
    assert found.pads is not before
    np.testing.assert_allclose(run(found, tokens), expected, atol=1e-4)


def _marked(*, before: bool) -> bytes:
    """Return a graph that puts a mark before or behind every text; vectors are sums."""
    random = np.random.default_rng(4)
    builder = GraphBuilder()

    def beside(mark: str, text: str) -> str:
        both = (mark, text) if before else (text, mark)
        return builder.node("Concat", *both, attributes={"axis": 1})

    def first(tokens: str) -> str:
        return builder.node("Gather", tokens, builder.constant([0]), attributes={"axis": 1})

    table = builder.constant(random.normal(size=(WORDS, WIDTH)).astype(np.float32))
    matrix = builder.constant(random.normal(size=(WIDTH, WIDTH)).astype(np.float32))
    rows = builder.node("Gather", table, "ids")
    marked = beside(builder.node("Tanh", first(rows)), rows)
    states = builder.node("Tanh", builder.node("MatMul", marked, matrix))
    kept = builder.cast("mask", TensorProto.FLOAT)
    weights = beside(first(kept), kept)
    product = builder.node(
        "MatMul", builder.node("Unsqueeze", weights, builder.constant([1])), states
    )
    return builder.finish(builder.node("Squeeze", product, builder.constant([1])), WIDTH)


def test_a_text_is_computed_in_no_width_that_adds_up_otherwise() -> None:
    # 8 and 16 with the graph's own two.
    assert [_width(tokens, 2, None) for tokens in (1, 6, 7, 14)] == [6, 6, 14, 14]
    assert [_width(tokens, 2, None) for tokens in (15, 22, 30, 31)] == [30, 30, 30, 38]
    assert [_width(tokens, 0, None) for tokens in (48, 49, 64, 65)] == [48, 64, 64, 72]
    for tokens in range(1, 100):
        width = _width(tokens, 0, None)
        assert width >= tokens
        assert width % 8 == 0
        assert width % 32 <= 16


def test_a_text_is_widened_to_no_more_than_may_come() -> None:
    assert _width(255, 2, 256) == _width(256, 2, 256) == 256
    assert _width(300, 2, 256) == 300  # which the graph refuses
    assert _width(20, 0, 26) == 26


@pytest.mark.parametrize("places", [88, 90])
def test_the_longest_text_is_answered_where_places_are_no_round_number(
    tmp_path: Path, places: int
) -> None:
    graph = write_bert(tmp_path, places=places)
    tokens = texts(places, 3)
    expected = run(EncoderSession(graph, dimension=WIDTH, pooler=Pooler("mean")), tokens)
    found = OpenVinoSession(
        graph,
        dimension=WIDTH,
        precision="fp32",
        streams=1,
        pooler=Pooler("mean"),
        max_tokens=places,
    )
    np.testing.assert_allclose(run(found, tokens), expected, atol=2e-5)


def test_the_longest_text_of_a_graph_with_tokens_of_its_own_is_answered() -> None:
    """As many as it has places for, which with its own are no round number."""
    mini = next(path for path in shipped_models() if path.name == "interlingua-mini")
    text = "word " * 300
    expected = Encoder(mini).encode(text)
    found = Encoder(mini, execution=Execution("openvino"))
    assert not any(tower.session.pads for tower in found.towers.values())
    np.testing.assert_allclose(found.encode(text), expected, atol=1e-4)
