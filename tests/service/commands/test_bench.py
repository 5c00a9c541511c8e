from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from service.cli import main


def test_every_combination_is_measured(tiny_bundle: Path, tmp_path: Path) -> None:
    texts = tmp_path / "texts"
    texts.write_text("\n".join(f"The cat sleeps {number}." for number in range(100)))
    command = ["bench", "--model", str(tiny_bundle), "--texts", str(texts), "--seconds", "0.05"]
    result = CliRunner().invoke(
        main, [*command, "--workers", "1,2", "--batch-tokens", "64,256", "--json"]
    )
    assert result.exit_code == 0, result.output
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert [(row["workers"], row["batch_tokens"]) for row in rows] == [
        (1, 64), (1, 256), (2, 64), (2, 256),
    ]  # fmt: skip
    assert all(row["texts_per_second"] > 0 for row in rows)
    assert all(row["runs_on"] == "onnxruntime-fp32" for row in rows)
    assert all(row["least_cosine"] > 0.9999 for row in rows)
    assert all(row["single_ms"][0] <= row["single_ms"][1] for row in rows)


def test_the_best_is_named_as_flags(tiny_bundle: Path, tmp_path: Path) -> None:
    texts = tmp_path / "texts"
    texts.write_text("One.\nTwo.\n")
    command = ["bench", "--model", str(tiny_bundle), "--texts", str(texts), "--seconds", "0.05"]
    result = CliRunner().invoke(main, [*command, "--workers", "1", "--batch-tokens", "64"])
    assert result.output.endswith(
        "--runtime onnxruntime --precision fp32 --workers 1 --batch-tokens 64\n"
    )


def test_what_is_no_number_is_refused(tmp_path: Path) -> None:
    for arguments in (["--workers", "0,many"], ["--workers", "²"], ["--seconds", "nan"]):
        assert CliRunner().invoke(main, ["bench", *arguments]).exit_code == 2
    (tmp_path / "empty").touch()
    result = CliRunner().invoke(main, ["bench", "--texts", str(tmp_path / "empty")])
    assert result.exit_code == 2
    assert "holds no text" in result.stderr


def test_texts_in_another_encoding_are_refused_by_name(tiny_bundle: Path, tmp_path: Path) -> None:
    texts = tmp_path / "texts"
    texts.write_bytes("café\n".encode("latin-1"))
    result = CliRunner().invoke(main, ["bench", "--model", str(tiny_bundle), "--texts", str(texts)])
    assert result.exit_code == 1
    assert f"{texts} cannot be read" in result.stderr
