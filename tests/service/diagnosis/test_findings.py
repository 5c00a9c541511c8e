from __future__ import annotations

import json
import shutil
import socket
import sys
from collections.abc import Callable
from importlib import util
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from service.diagnosis.findings import find
from service.settings import Settings


def settings(bundle: Path, data: Path, **changes: object) -> Settings:
    return Settings.model_validate(
        {"model": [bundle], "head": [], "data": data, "port": 0, "workers": 1} | changes
    )


def without(package: str) -> Callable[[str], ModuleSpec | None]:
    return lambda name: None if name == package else util.find_spec(name)


def test_a_good_machine_has_nothing_to_change(tiny_bundle: Path, tmp_path: Path) -> None:
    assert [f for f in find(settings(tiny_bundle, tmp_path)) if f.level == "error"] == []


def test_a_transformer_without_openvino_is_advised_of_it(
    tiny_bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = shutil.copytree(tiny_bundle, tmp_path / "model")
    manifest = json.loads((model / "bundle.json").read_bytes())
    (model / "bundle.json").write_text(json.dumps(manifest | {"family": "transformer"}))
    with monkeypatch.context() as patch:
        patch.setattr("service.diagnosis.findings.find_spec", without("openvino"))
        assert find(settings(tiny_bundle, tmp_path, runtime="auto")) == []
        assert find(settings(model, tmp_path, runtime="onnxruntime")) == []
        (finding,) = find(settings(model, tmp_path, runtime="auto"))
    assert (finding.level, finding.remedy) == (
        "advice",
        "Install it: pip install openvino.",
    )


def test_a_broken_model_is_named_with_its_remedy(tmp_path: Path) -> None:
    (finding,) = find(settings(tmp_path / "nothing", tmp_path))
    assert finding.level == "error"
    assert "nothing" in finding.what + finding.remedy


def test_a_taken_port_is_said(tiny_bundle: Path, tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        (finding,) = find(settings(tiny_bundle, tmp_path, port=port))
    assert str(port) in finding.what
    assert "--port" in finding.remedy


def test_data_on_a_read_only_place(
    tiny_bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.access", lambda *_: False)
    (finding,) = find(settings(tiny_bundle, tmp_path / "a" / "b"))
    assert str(tmp_path) in finding.what


def test_data_in_a_closed_directory(
    tiny_bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside, exists = tmp_path / "closed" / "data", Path.exists
    inside.parent.mkdir()

    def look(path: Path) -> bool:
        if path == inside:
            raise PermissionError(13, "Permission denied", str(path))
        return exists(path)

    monkeypatch.setattr(Path, "exists", look)
    monkeypatch.setattr("os.access", lambda *_: False)
    (finding,) = find(settings(tiny_bundle, inside))
    assert finding.what.startswith(str(inside.parent))


def test_what_could_be_better_is_advice(tiny_bundle: Path, tmp_path: Path) -> None:
    changes = {"host": "0.0.0.0", "open_to_network": True}
    (found,) = find(settings(tiny_bundle, tmp_path, **changes))
    assert found.level == "advice"
    assert "INTERLINGUA_API_KEYS" in found.remedy


def test_an_address_that_needs_keys(tiny_bundle: Path, tmp_path: Path) -> None:
    (found,) = find(settings(tiny_bundle, tmp_path, host="0.0.0.0"))
    assert found.level == "error"
    assert "INTERLINGUA_API_KEYS" in found.remedy


def test_data_that_are_a_file(tiny_bundle: Path, tmp_path: Path) -> None:
    (tmp_path / "data").write_text("")
    (found,) = find(settings(tiny_bundle, tmp_path / "data"))
    assert (found.level, "--data" in found.remedy) == ("error", True)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"search_device": "gpu"}, "GPU"),
        ({"token_input": "cl100k_base"}, "tiktoken"),
        ({"vector_engine": "http://127.0.0.1:1"}, "vector engine"),
        ({"vector_engine": "corpora.db"}, "client"),
    ],
)
def test_what_a_start_would_miss_is_an_error(
    tiny_bundle: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    changes: dict[str, str],
    said: str,
) -> None:
    if "http" in changes.get("vector_engine", ""):
        pytest.importorskip("pymilvus", reason="the extra milvus is not installed")
    else:
        monkeypatch.setitem(sys.modules, "pymilvus", None)
    monkeypatch.setitem(sys.modules, "tiktoken", None)
    monkeypatch.setattr("faiss.get_num_gpus", lambda: 0, raising=False)
    (found,) = find(settings(tiny_bundle, tmp_path, **changes))
    assert found.level == "error"
    assert said in found.what
    assert found.remedy


def test_traces_without_their_extra_are_an_error(
    tiny_bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    (found,) = find(settings(tiny_bundle, tmp_path))
    assert (found.level, "otel" in found.remedy) == ("error", True)
