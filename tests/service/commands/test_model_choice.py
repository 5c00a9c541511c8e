from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from service.cli import main


@pytest.fixture
def data(tiny_bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data directory into which a model was imported."""
    directory = tmp_path / "data"
    shutil.copytree(tiny_bundle, directory / "models" / "tiny")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("INTERLINGUA_DATA", raising=False)
    return directory


def run(*arguments: str, data: Path | None = None) -> Result:
    environment = {} if data is None else {"INTERLINGUA_DATA": str(data)}
    result = CliRunner().invoke(main, arguments, env=environment)
    assert result.exit_code == 0, result.output
    return result


@pytest.mark.parametrize(
    "command",
    [
        ("embed", "Guten Morgen"),
        ("classify", "Guten Morgen", "--label", "a=morning", "--label", "b=evening"),
        ("bench", "--seconds", "0.05", "--workers", "1", "--batch-tokens", "512", "--json"),
    ],
)
def test_a_model_is_named_as_it_was_imported(
    data: Path, tiny_bundle: Path, command: tuple[str, ...]
) -> None:
    by_name = run(*command, "--model", "tiny", data=data)
    by_path = run(*command, "--model", str(tiny_bundle))
    if command[0] != "bench":
        assert by_name.output == by_path.output


def test_the_settings_name_the_default_as_for_a_server(
    data: Path, tiny_bundle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_flag = run("embed", "Guten Morgen", "--model", str(tiny_bundle))
    shipped = run("embed", "Guten Morgen")
    monkeypatch.setenv("INTERLINGUA_MODEL", f"tiny{os.pathsep}interlingua-mini")
    assert run("embed", "Guten Morgen", data=data).output == by_flag.output
    flagged = run("embed", "Guten Morgen", "--model", "interlingua-mini", data=data)
    assert flagged.output == shipped.output != by_flag.output


def test_search_takes_the_model_that_the_corpus_was_made_with(data: Path) -> None:
    Path("notes.jsonl").write_text(
        '{"id": "1", "text": "The cat sleeps."}\n{"id": "2", "text": "Bread smells best."}\n'
    )
    flags = ("--corpus", "notes", "--data", str(data))
    run("index", "notes.jsonl", *flags, "--model", "tiny")
    hits = json.loads(run("search", "The cat sleeps.", *flags, "--json").output)
    assert hits[0]["id"] == "1"
    assert "2 unchanged" in run("index", "notes.jsonl", *flags).output


def test_an_unknown_name_is_said(data: Path) -> None:
    result = CliRunner().invoke(main, ["embed", "a", "--model", "no-such-model"])
    assert result.exit_code != 0
    assert "no-such-model" in result.output
