from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from service.cli import main
from service.inference.encoder import Encoder
from service.settings import Settings


@pytest.fixture
def runner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CliRunner:
    monkeypatch.chdir(tmp_path)
    return CliRunner()


def test_every_setting_is_a_flag_of_serve(runner: CliRunner) -> None:
    help_text = runner.invoke(main, ["serve", "--help"]).output
    for name in Settings.model_fields:
        assert f"INTERLINGUA_{name.upper()}" in help_text.replace("\n", "").replace(" ", "")


def test_serve_names_all_bad_settings_at_once(runner: CliRunner, tiny_bundle: Path) -> None:
    result = runner.invoke(
        main, ["serve", "--model", str(tiny_bundle), "--port", "nine", "--workers", "0"]
    )
    assert result.exit_code == 2
    assert "port" in result.stderr
    assert "workers" in result.stderr


def test_embed_prints_a_vector_a_line(
    runner: CliRunner, tiny_bundle: Path, tiny_encoder: Encoder
) -> None:
    result = runner.invoke(main, ["embed", "--model", str(tiny_bundle), "cat", "猫"])
    vectors = [json.loads(line) for line in result.output.splitlines()]
    np.testing.assert_allclose(vectors, tiny_encoder.encode(["cat", "猫"]), atol=1e-6)


def test_embed_reads_stdin(runner: CliRunner, tiny_bundle: Path) -> None:
    result = runner.invoke(
        main, ["embed", "--model", str(tiny_bundle), "--dimensions", "4"], input="cat\r\n猫\n"
    )
    assert [len(json.loads(line)) for line in result.output.splitlines()] == [4, 4]


@pytest.mark.parametrize("command", ["embed", "classify"])
def test_standard_input_in_another_encoding_is_refused(
    runner: CliRunner, tiny_bundle: Path, command: str
) -> None:
    labels = ["--label", "a=cat", "--label", "b=bread"] if command == "classify" else []
    result = runner.invoke(
        main, [command, "--model", str(tiny_bundle), *labels], input=b"cat\ncaf\xe9\n"
    )
    assert (result.exit_code, result.stdout) == (1, "")
    assert "The standard input is no UTF-8" in result.stderr
    assert "iconv" in result.stderr


def test_standard_input_in_another_encoding_is_refused_in_a_container(tiny_bundle: Path) -> None:
    code = "from service.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "embed", "--model", str(tiny_bundle)],
        input=b"caf\xe9\n",
        capture_output=True,
        env={**os.environ, "LC_ALL": "C.UTF-8"},  # as images set it
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"The standard input is no UTF-8" in done.stderr


@pytest.mark.parametrize("dimensions", ["0", "-5", "17"])
@pytest.mark.parametrize("command", [["embed"], ["index", "--corpus", "notes"]])
def test_dimensions_that_a_model_does_not_have_are_refused(
    runner: CliRunner, tiny_bundle: Path, tmp_path: Path, command: list[str], dimensions: str
) -> None:
    path = tmp_path / "notes.jsonl"
    path.write_text('{"text": "cat"}\n')
    result = runner.invoke(
        main,
        [*command, str(path), "--model", str(tiny_bundle), "--dimensions", dimensions],
        env={"INTERLINGUA_DATA": str(tmp_path / "data")},
    )
    assert (result.exit_code, result.stdout) == (1, "")
    assert "tiny has 16 dimensions" in result.stderr
    assert "Ask for 1 to 16" in result.stderr


def test_models_lists_and_verifies(runner: CliRunner, tiny_bundle: Path) -> None:
    result = runner.invoke(main, ["models", "list", str(tiny_bundle)])
    assert result.output.startswith("tiny  16 dimensions")


def test_error_is_one_line_with_a_remedy(runner: CliRunner, tmp_path: Path) -> None:
    result = runner.invoke(main, ["embed", "--model", str(tmp_path), "cat"])
    assert result.exit_code == 1
    assert "has no bundle.json" in result.stderr
    assert "Traceback" not in result.output


def test_a_file_that_the_system_refuses_is_named_in_a_line(
    runner: CliRunner, tmp_path: Path
) -> None:
    result = runner.invoke(main, ["keys", "new", "--file", str(tmp_path / "nowhere" / "keys")])
    assert result.exit_code == 1
    assert result.stderr.endswith("nowhere/keys.new: No such file or directory.\n")
    assert isinstance(result.exception, SystemExit)
