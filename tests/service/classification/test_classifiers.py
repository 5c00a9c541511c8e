from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from service.classification.classifiers import Classifiers
from service.classification.head import write_head
from service.classification.store import ClassifierStore
from service.errors import BundleError, ConflictError, NotFoundError, SettingsError
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


def test_where_they_are_fixed_all_are_read_and_none_is_changed(tmp_path: Path) -> None:
    store = ClassifierStore(tmp_path / "fitted")
    write(store.path("fitted", 1), "fitted")
    (tmp_path / "fitted" / "fitted" / "current").write_text("1")
    fixed = Classifiers([write(tmp_path / "given", "given")], store, fixed=True)
    assert [head.name for head in fixed.list()] == ["fitted", "given"]
    changes: list[Callable[[str], object]] = [
        fixed.check_free,
        fixed.drop,
        partial(fixed.activate, version=1),
        partial(fixed.drop_version, version=1),
    ]
    for change in changes:
        for name in ("fitted", "given"):
            with pytest.raises(ConflictError, match="--head") as caught:
                change(name)
            assert caught.value.field == "classifiers"
    with pytest.raises(NotFoundError) as nothing:
        Classifiers([], fixed=True).default()
    assert "PUT" not in str(nothing.value)
