from __future__ import annotations

import pytest
from pydantic import ValidationError

from service.classification.manifest import HeadManifest
from tests.service.classification.samples import head_manifest


def test_manifest_survives_a_round_trip() -> None:
    manifest = head_manifest()
    assert HeadManifest.model_validate_json(manifest.model_dump_json()) == manifest


@pytest.mark.parametrize(
    ("changes", "at_fault"),
    [
        ({"name": "../topic"}, "name"),
        ({"labels": ("one",)}, "labels"),
        ({"labels": ("a", "b", "a")}, "twice"),
        ({"labels": ("a", "")}, "labels"),
        ({"kind": "encoder"}, "kind"),
        ({"schema_version": 2}, "schema_version"),
        ({"features": "code"}, "features"),
        ({"temperature": 0}, "temperature"),
        ({"temperature": float("inf")}, "temperature"),
        ({"dimension": 0}, "dimension"),
        ({"encoder": {"name": "tiny", "identity": "short"}}, "identity"),
        ({"files": {"../head.safetensors": {"sha256": "0" * 64, "bytes": 1}}}, "files"),
        ({"run": "rm -rf /"}, "run"),
    ],
)
def test_what_breaks_the_schema_is_refused(changes: dict[str, object], at_fault: str) -> None:
    with pytest.raises(ValidationError, match=at_fault):
        head_manifest(**changes)
