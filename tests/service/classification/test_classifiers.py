from __future__ import annotations

from pathlib import Path

import pytest

from service.classification.classifiers import Classifiers
from service.classification.head import write_head
from service.errors import BundleError, NotFoundError, SettingsError
from tests.service.classification.samples import head_manifest, head_weights


def write(directory: Path, name: str) -> Path:
    weights, bias = head_weights()
    write_head(directory, head_manifest(name=name), weights=weights, bias=bias)
    return directory


def test_heads_are_found_by_name(tmp_path: Path) -> None:
    classifiers = Classifiers([write(tmp_path / "1", "topic"), write(tmp_path / "2", "mood")])
    assert [head.name for head in classifiers.list()] == ["mood", "topic"]
    assert classifiers.get("topic").name == "topic"


def test_unknown_name_is_told_with_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="topic") as caught:
        Classifiers([write(tmp_path / "1", "topic")]).get("topik")
    assert caught.value.field == "classifier"


def test_there_may_be_none() -> None:
    assert Classifiers([]).list() == ()


def test_bad_head_is_known_before_anybody_asks(tmp_path: Path) -> None:
    with pytest.raises(BundleError):
        Classifiers([tmp_path])


def test_two_of_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="topic"):
        Classifiers([write(tmp_path / "1", "topic"), write(tmp_path / "2", "topic")])
