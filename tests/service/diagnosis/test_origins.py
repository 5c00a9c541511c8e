from __future__ import annotations

from pathlib import Path

import pytest

from service.diagnosis.origins import choices
from service.settings import Settings


def test_every_setting_says_where_it_came_from(
    tiny_bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_text(
        "\ufeffINTERLINGUA_QUEUE_SECONDS=1\n# INTERLINGUA_HOST=1.2.3.4\n"
        "export INTERLINGUA_LOG_LEVEL=debug\nINTERLINGUA_PORT=1\n",
        encoding="utf-8",
    )
    monkeypatch.setenv("INTERLINGUA_PORT", "9001")
    monkeypatch.setenv("INTERLINGUA_HOST", "")
    monkeypatch.setenv("INTERLINGUA_API_KEYS", "open-sesame,please")
    settings = Settings(model=[tiny_bundle], workers=1)
    found = {c.name: c for c in choices(settings, ["model", "workers"], tmp_path)}
    assert list(found) == list(Settings.model_fields)
    assert found["workers"].origin == "flag"
    assert (found["port"].value, found["port"].origin) == ("9001", "environment")
    assert (found["log_level"].value, found["log_level"].origin) == ("debug", ".env")
    assert (found["queue_seconds"].value, found["queue_seconds"].origin) == ("1.0", ".env")
    assert found["host"].origin == "default"
    assert found["api_keys"].value == "2 set", "keys are counted, never shown"
