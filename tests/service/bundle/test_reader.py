from __future__ import annotations

import json
from pathlib import Path

import pytest

from service.bundle.reader import read_bundle
from service.errors import BundleError
from tests.tiny_bundle import make_tiny_bundle


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    return make_tiny_bundle(tmp_path / "tiny")


def test_reads_what_was_written(bundle: Path) -> None:
    assert read_bundle(bundle).manifest.name == "tiny"


def test_directory_without_manifest_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match=r"has no bundle\.json") as caught:
        read_bundle(tmp_path)
    assert caught.value.remedy is not None


def test_flipped_byte_is_refused(bundle: Path) -> None:
    graph = bundle / "encoder.onnx"
    content = bytearray(graph.read_bytes())
    content[len(content) // 2] ^= 1
    graph.write_bytes(content)
    with pytest.raises(BundleError, match="sha256 differs"):
        read_bundle(bundle)
    assert read_bundle(bundle, verify=False).manifest.name == "tiny"


def test_cut_file_is_refused(bundle: Path) -> None:
    graph = bundle / "encoder.onnx"
    graph.write_bytes(graph.read_bytes()[:-10])
    with pytest.raises(BundleError, match="cut or changed"):
        read_bundle(bundle)


def test_missing_file_is_refused(bundle: Path) -> None:
    (bundle / "tokenizer.model").unlink()
    with pytest.raises(BundleError, match=r"tokenizer\.model"):
        read_bundle(bundle)


def test_schema_break_names_the_field(bundle: Path) -> None:
    path = bundle / "bundle.json"
    fields = json.loads(path.read_text())
    fields["dimension"] = "wide"
    path.write_text(json.dumps(fields))
    with pytest.raises(BundleError) as caught:
        read_bundle(bundle)
    assert caught.value.field == "dimension"
    assert caught.value.given == "'wide'"


def test_manifest_that_is_no_json_is_refused(bundle: Path) -> None:
    (bundle / "bundle.json").write_text("{")
    with pytest.raises(BundleError, match="schema"):
        read_bundle(bundle)
