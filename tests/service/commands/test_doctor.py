from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from service.cli import main


@pytest.fixture
def flags(tiny_bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.chdir(tmp_path)
    return ["--model", str(tiny_bundle), "--data", str(tmp_path), "--port", "0"]


def test_it_says_what_is_there(flags: list[str], tiny_bundle: Path) -> None:
    result = CliRunner().invoke(main, ["doctor", *flags])
    assert result.exit_code == 0, result.output
    assert "Nothing to change." in result.output
    assert f"{tiny_bundle}  [flag]" in result.output
    assert "CPUExecutionProvider" in result.output


def test_json_is_for_machines(flags: list[str]) -> None:
    report = json.loads(CliRunner().invoke(main, ["doctor", "--json", *flags]).output)
    assert set(report) == {"machine", "versions", "providers", "settings", "findings"}
    assert {"name": "port", "value": "0", "origin": "flag"} in report["settings"]


def test_what_would_not_work_is_exit_code_1(flags: list[str], tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["doctor", *flags, "--model", str(tmp_path / "none")])
    assert result.exit_code == 1
    assert "error:" in result.output


def test_settings_that_cannot_be_read_are_exit_code_2(flags: list[str]) -> None:
    assert CliRunner().invoke(main, ["doctor", *flags, "--port", "nine"]).exit_code == 2
