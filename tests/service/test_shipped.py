from __future__ import annotations

from pathlib import Path

import pytest

from service import shipped
from tests.tiny_bundle import make_tiny_bundle


def test_the_preferred_model_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("another", "interlingua-fast", "interlingua-mini"):
        make_tiny_bundle(tmp_path / name, name=name)
    (tmp_path / "topic").mkdir()
    (tmp_path / "topic" / "head.json").write_text("{}")
    monkeypatch.setattr(shipped, "_PLACES", (tmp_path,))
    assert [path.name for path in shipped.shipped_models()] == [
        "interlingua-mini",
        "interlingua-fast",
        "another",
    ]
    assert shipped.default_models() == [tmp_path / "interlingua-mini"]
    assert shipped.shipped_heads() == [tmp_path / "topic"]


def test_nothing_shipped_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shipped, "_PLACES", (tmp_path / "nowhere",))
    assert shipped.shipped_models() == []
    assert shipped.default_models() == []
