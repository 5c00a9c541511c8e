from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from service.bundle.manifest import Manifest
from service.bundle.reader import read_bundle


@pytest.fixture
def fields(tiny_bundle: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((tiny_bundle / "bundle.json").read_text())
    return loaded


def test_manifest_survives_a_round_trip(tiny_bundle: Path) -> None:
    manifest = read_bundle(tiny_bundle).manifest
    assert Manifest.model_validate_json(manifest.model_dump_json()) == manifest


def test_unknown_field_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="colour"):
        Manifest.model_validate(fields | {"colour": "blue"})


@pytest.mark.parametrize("name", ["../tiny", "Tiny", "", "a/b", "x" * 65])
def test_name_that_could_be_a_path_is_refused(fields: dict[str, Any], name: str) -> None:
    with pytest.raises(ValidationError, match="name"):
        Manifest.model_validate(fields | {"name": name})


def test_bundles_of_before_may_say_that_they_have_no_second_vocabulary(
    fields: dict[str, Any],
) -> None:
    plain = Manifest.model_validate(fields)
    fields["encoders"]["*"]["tokenizer"]["beside"] = None
    assert Manifest.model_validate(fields) == plain
    fields["encoders"]["*"]["tokenizer"]["beside"] = "second.model"
    with pytest.raises(ValidationError, match="beside"):
        Manifest.model_validate(fields)


def test_graph_outside_the_bundle_is_refused(fields: dict[str, Any]) -> None:
    fields["encoders"]["*"]["graph"] = "../../etc/passwd"
    with pytest.raises(ValidationError, match="graph"):
        Manifest.model_validate(fields)


def test_encoder_of_an_unlisted_file_is_refused(fields: dict[str, Any]) -> None:
    fields["encoders"]["*"]["graph"] = "other.onnx"
    with pytest.raises(ValidationError, match=r"'other\.onnx' is not among files"):
        Manifest.model_validate(fields)


def test_encoder_of_an_unlisted_language_is_refused(fields: dict[str, Any]) -> None:
    fields["encoders"]["fi"] = fields["encoders"]["*"]
    with pytest.raises(ValidationError, match="'fi' is not among languages"):
        Manifest.model_validate(fields)


def test_cut_beyond_the_dimension_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="matryoshka"):
        Manifest.model_validate(fields | {"matryoshka_dimensions": [17]})


def test_identity_follows_the_weights_alone(fields: dict[str, Any]) -> None:
    original = Manifest.model_validate(fields)
    renamed = Manifest.model_validate(fields | {"name": "other"})
    fields["files"]["encoder.onnx"]["sha256"] = "0" * 64
    changed = Manifest.model_validate(fields)
    assert renamed.identity == original.identity
    assert changed.identity != original.identity
