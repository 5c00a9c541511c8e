from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from service.cli import main
from tests.service.huggingface.conftest import tiny_states_graph


@pytest.fixture
def source(tiny_bundle: Path, tmp_path: Path) -> Path:
    """A directory of transformers, in miniature, with a T5's SentencePiece model."""
    directory = tmp_path / "Tiny T5"
    directory.mkdir()
    shutil.copy(tiny_bundle / "tokenizer.model", directory / "spiece.model")
    config = {"model_type": "t5", "d_model": 16, "eos_token_id": 2, "pad_token_id": 0}
    (directory / "config.json").write_text(json.dumps(config))
    (directory / "tokenizer_config.json").write_text('{"tokenizer_class": "T5Tokenizer"}')
    (directory / "README.md").write_text("---\nlanguage:\n- de\n- en\nlicense: mit\n---\n# Tiny\n")
    tiny_states_graph(directory / "model.onnx", 2000)
    return directory


def run(data: Path, *arguments: str, stdin: str | None = None) -> Result:
    """Run `interlingua models` with a data directory."""
    environment = {"INTERLINGUA_DATA": str(data)}
    return CliRunner().invoke(main, ["models", *arguments], env=environment, input=stdin)


def test_from_import_to_remove(source: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    result = run(data, "import", str(source), "--prompt", "query=q: ", "--dimensions", "8")
    assert result.exit_code == 0, result.output
    assert result.output.startswith("tiny-t5  16 dimensions")
    assert "tiny-t5  16 dimensions" in run(data, "list").output
    assert "interlingua-fast" in run(data, "list").output
    assert "  2 languages  " in run(data, "list").output
    german = run(data, "import", str(source), "--name", "german", "--language", "de")
    assert "  1 language  " in german.output

    manifest = json.loads(run(data, "inspect", "tiny-t5").output)
    assert manifest["languages"] == ["de", "en"]
    assert manifest["licence"] == "mit"
    assert manifest["prompts"] == {"query": "q: "}
    assert manifest["matryoshka_dimensions"] == [8]
    assert manifest["encoders"]["*"]["pooling"] == "mean"

    assert run(data, "verify", "tiny-t5").output.startswith("sound  tiny-t5")
    assert run(data, "remove", "tiny-t5", stdin="n\n").exit_code == 1
    assert run(data, "remove", "tiny-t5", "--yes").output.startswith("removed")
    assert "tiny-t5" not in run(data, "list").output


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--name", "My Model", "field 'name', given 'My Model'"),
        ("--space", "a b", "field 'space'"),
        ("--language", "German", "field 'languages.0', given 'German'"),
        ("--dimensions", "64", "must lie in 1..16"),
    ],
)
def test_a_wish_that_cannot_be_is_named(
    source: Path, tmp_path: Path, option: str, value: str, said: str
) -> None:
    result = run(tmp_path, "import", str(source), option, value)
    assert result.exit_code == 1
    assert result.output.startswith("Error: ")
    assert said in result.output


def test_a_width_that_nobody_says_is_asked_for(source: Path, tmp_path: Path) -> None:
    config = source / "config.json"
    config.write_text(config.read_text().replace("d_model", "size"))
    result = run(tmp_path, "import", str(source))
    assert result.exit_code == 1
    assert "hidden_size" in result.output


def test_int8_says_its_loss(source: Path, tmp_path: Path) -> None:
    result = run(tmp_path, "import", str(source), "--precision", "int8", "--name", "small")
    assert result.exit_code == 0, result.output
    assert "int8 against fp32 on" in result.output
    mean = float(result.output.partition("mean cosine ")[2].partition(",")[0])
    assert 0.999 < mean <= 1


def test_a_changed_file_is_found(source: Path, tmp_path: Path) -> None:
    run(tmp_path, "import", str(source))
    path = tmp_path / "models" / "tiny-t5" / "encoder.onnx"
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    result = run(tmp_path, "verify", "tiny-t5")
    assert result.exit_code == 1
    assert "sha256 differs" in result.output


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("remove", "nothing", "--yes"), 1, "there are: none"),
        (("inspect", "nothing"), 1, "no directory nothing. Correct the path; `interlingua models"),
        (("import", ".", "--prompt", "query"), 2, "NAME=TEXT"),
        (("import", ".."), 1, "was written by neither"),
        (("import", "."), 1, "neither ONNX weights"),
    ],
)
def test_errors_say_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], code: int,
    message: str,
) -> None:  # fmt: skip
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    (tmp_path / "here" / "config.json").write_text('{"model_type": "bert", "hidden_size": 4}')
    result = run(tmp_path, *arguments)
    assert result.exit_code == code, result.output
    assert message in result.output


def test_a_directory_that_others_made_encodes_whole_files_too(source: Path, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="the extra for Parquet is not installed")
    texts = tmp_path / "notes.txt"
    texts.write_text("cat\n")
    command = ["embed", str(texts), "--model", str(source), "--out", str(tmp_path / "vectors")]
    for said in ("1 text encoded, 0 kept, in 1 file of", "0 texts encoded, 1 kept"):
        result = CliRunner().invoke(main, command)
        assert result.exit_code == 0, result.output
        assert said in result.output
