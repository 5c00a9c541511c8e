from __future__ import annotations

import sys
from pathlib import Path

import pytest
from pydantic import ValidationError

from service.hardware import available_cores
from service.settings import Settings
from service.shipped import default_models


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)


def make(**values: object) -> Settings:
    return Settings.model_validate({"model": ["bundle"], **values})


def test_flag_beats_variable_beats_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".env").write_text("INTERLINGUA_PORT=1111\nINTERLINGUA_WORKERS=1\n")
    assert make().port == 1111
    monkeypatch.setenv("INTERLINGUA_PORT", "2222")
    assert make().port == 2222
    assert make(port=3333).port == 3333
    assert make().workers == 1


def test_lists_come_from_one_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTERLINGUA_MODEL", "/models/a:/models/b")
    monkeypatch.setenv("INTERLINGUA_API_KEYS", "one,two")
    settings = Settings()
    assert settings.model == [Path("/models/a"), Path("/models/b")]
    assert [key.get_secret_value() for key in settings.api_keys] == ["one", "two"]


def test_an_empty_variable_is_not_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    for name in ("DATA", "PORT", "API_KEYS", "API_KEYS_FILE", "MODEL", "HEAD"):
        monkeypatch.setenv(f"INTERLINGUA_{name}", "")
    settings = Settings()
    assert settings.data == tmp_path / "share" / "interlingua"
    assert (settings.port, settings.api_keys, settings.api_keys_file) == (8000, [], None)
    assert settings.model == default_models()
    assert settings.head == []


def test_keys_are_not_printed() -> None:
    assert "hunter2" not in repr(make(api_keys=["hunter2"]))


def test_data_lives_where_the_desktop_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    assert make().data == tmp_path / "share" / "interlingua"


def test_workers_follow_the_cores() -> None:
    assert make().workers == available_cores()


def test_more_workers_than_cores_are_refused() -> None:
    with pytest.raises(ValidationError, match="cores that this process may use"):
        make(workers=available_cores() + 1)


@pytest.mark.parametrize(
    ("field", "value"),
    [("port", 70000), ("workers", 0), ("queue_tokens", 1), ("log_level", "loud"), ("model", [])],
)
def test_impossible_values_are_refused(field: str, value: object) -> None:
    with pytest.raises(ValidationError, match=field):
        make(**{field: value})


@pytest.mark.skipif(
    sys.version_info >= (3, 13), reason="such links are followed; what uses the path says so"
)
@pytest.mark.parametrize("field", ["data", "model", "head", "api_keys_file"])
def test_a_path_that_leads_nowhere_is_refused(tmp_path: Path, field: str) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    with pytest.raises(ValidationError, match="leads nowhere"):
        make(**{field: [loop] if field in ("model", "head") else loop})


def test_queue_smaller_than_a_batch_is_refused() -> None:
    with pytest.raises(ValidationError, match="raise the one or lower the other"):
        make(queue_tokens=100, batch_tokens=200)


def test_every_setting_is_described() -> None:
    assert all(field.description for field in Settings.model_fields.values())
