from __future__ import annotations

import resource
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import orjson
import pytest

from service.bundle.reader import Bundle, read_bundle
from service.errors import BundleError, SettingsError
from service.inference import choosing, execution
from service.inference.choosing import Choice, Measured, Wishes, _write, choose
from service.inference.encoder import Encoder
from service.inference.execution import Execution
from service.inference.session import Vectors
from service.inference.wishes import PrecisionWish


def test_a_static_model_is_never_measured(tiny_bundle: Path, tmp_path: Path) -> None:
    memory = tmp_path / "measured.json"
    bundle = read_bundle(tiny_bundle)
    static = bundle.manifest.model_copy(update={"family": "static"})
    bundle = type(bundle)(bundle.directory, static, bundle.elsewhere)
    choice = choose(bundle, Wishes(precision="int8", streams=2), memory=memory)
    assert choice == Choice(Execution(streams=2))
    assert not memory.exists()


def test_without_openvino_it_is_onnx_runtime(
    tiny_bundle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choosing, "has_openvino", lambda: False)
    monkeypatch.setattr(execution, "has_openvino", lambda: False)
    bundle = _transformer(tiny_bundle)
    assert choose(bundle, Wishes()).execution == Execution()
    with pytest.raises(SettingsError, match="pip install openvino"):
        choose(bundle, Wishes(runtime="openvino"))
    with pytest.raises(SettingsError, match="not installed"):
        choose(bundle, Wishes(precision="int8"))


def test_the_fastest_that_comes_near_is_taken_and_remembered(
    tiny_bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("openvino", reason="it comes with the extra `openvino`")
    figures = {"int8": (300.0, 0.95), "bf16": (200.0, 0.999), "fp32": (100.0, 1.0)}

    def measured(_: object, ways: list[Execution]) -> tuple[list[Measured], None]:
        found = [
            Measured(
                runtime=way.runtime,
                precision=way.precision,
                texts_per_second=figures[way.precision][0] - (way.runtime == "onnxruntime"),
                least_cosine=figures[way.precision][1],
                mean_cosine=1.0,
            )
            for way in ways
        ]
        return found, None

    monkeypatch.setattr(choosing, "_measure_all", measured)
    monkeypatch.setattr(
        "service.openvino.session.supported_precisions", lambda: ("int8", "bf16", "fp32")
    )
    bundle, memory = _transformer(tiny_bundle), tmp_path / "data" / "measured.json"
    first = choose(bundle, Wishes(), memory=memory)
    assert (first.execution.runtime, first.execution.precision) == ("openvino", "bf16")
    assert first.taken is not None
    assert first.taken.texts_per_second == 200
    monkeypatch.setattr(choosing, "_measure_all", None)
    assert choose(bundle, Wishes(), memory=memory).execution == first.execution
    memory.write_text("nonsense")
    with pytest.raises(TypeError):
        choose(bundle, Wishes(), memory=memory)


@pytest.mark.parametrize(
    ("rate", "cosine", "measured"),
    [
        (150, 0.999, ["fp32", "int8"]),  # clearly faster, and near
        (149, 0.999, ["fp32", "int8", "bf16", "fp32"]),  # hardly faster
        (500, 0.9, ["fp32", "int8", "bf16", "fp32"]),  # far off
    ],
)
def test_wider_precisions_are_measured_where_the_narrowest_is_not_enough(
    tiny_bundle: Path,
    monkeypatch: pytest.MonkeyPatch,
    rate: float,
    cosine: float,
    measured: list[str],
) -> None:
    pytest.importorskip("openvino", reason="it comes with the extra `openvino`")

    def encode(encoder: Encoder, probes: Sequence[str]) -> tuple[Vectors, float]:
        narrow = encoder.execution.precision == "int8"
        near, fast = (cosine, rate) if narrow else (1.0, 100.0)
        return np.tile(np.array([[near, (1 - near**2) ** 0.5]], np.float32), (len(probes), 1)), fast

    monkeypatch.setattr(choosing, "_encode", encode)
    monkeypatch.setattr(
        "service.openvino.session.supported_precisions", lambda: ("int8", "bf16", "fp32")
    )
    choice = choose(_transformer(tiny_bundle), Wishes())
    assert [way.precision for way in choice.measured] == measured
    kept = choice.encoder and choice.encoder.execution
    assert kept == (choice.execution if choice.execution.runtime == "openvino" else None)
    assert choice.measured[0].runtime == "onnxruntime"


@pytest.mark.parametrize("precision", ["auto", "int8"])
def test_where_no_way_runs_the_model_it_says_so_and_remembers_nothing(
    tiny_bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, precision: PrecisionWish
) -> None:
    pytest.importorskip("openvino", reason="it comes with the extra `openvino`")

    def cannot(encoder: Encoder, probes: Sequence[str]) -> tuple[Vectors, float]:
        if encoder.execution.runtime == "openvino":
            raise BundleError("OpenVINO cannot run the graph.")
        return np.ones((len(probes), 4), np.float32), 1.0

    monkeypatch.setattr(choosing, "_encode", cannot)
    monkeypatch.setattr(
        "service.openvino.session.supported_precisions", lambda: ("int8", "bf16", "fp32")
    )
    bundle, memory = _transformer(tiny_bundle), tmp_path / "measured.json"
    wishes = Wishes(runtime="openvino", precision=precision)
    for _ in range(2):
        with pytest.raises(BundleError, match=r"cannot run the graph\..*--runtime onnxruntime"):
            choose(bundle, wishes, memory=memory)
        assert not memory.exists()


def test_an_empty_memory_is_none(
    tiny_bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("openvino", reason="it comes with the extra `openvino`")
    full = Measured(
        runtime="onnxruntime", precision="fp32", texts_per_second=1, least_cosine=1, mean_cosine=1
    )
    bundle, memory = _transformer(tiny_bundle), tmp_path / "measured.json"
    key = choosing._key(bundle, choosing.ways(bundle, Wishes()))
    memory.write_bytes(orjson.dumps({key: []}))
    monkeypatch.setattr(choosing, "_measure_all", lambda *_: ([full], None))
    assert choose(bundle, Wishes(), memory=memory).taken == full


def _transformer(tiny_bundle: Path) -> Bundle:
    bundle = read_bundle(tiny_bundle)
    manifest = bundle.manifest.model_copy(update={"family": "transformer"})
    return type(bundle)(bundle.directory, manifest, bundle.elsewhere)


def test_a_memory_that_cannot_be_written_whole_stays_as_it_was(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    memory = tmp_path / "measured.json"
    memory.write_text("{}")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    figures = Measured(
        runtime="openvino", precision="fp32", texts_per_second=1, least_cosine=1, mean_cosine=1
    )
    resource.setrlimit(resource.RLIMIT_FSIZE, (20, before[1]))
    try:
        _write(memory, {"key": [figures]})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert memory.read_text() == "{}"
    assert "cannot be written" in caplog.text
