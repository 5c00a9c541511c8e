"""The training commands, from the command line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from service.bundle.reader import read_bundle
from service.classification.head import read_head
from service.cli import main
from service.inference.encoder import Encoder
from training.data.templates import template_sentences, write_template_folder

FEW = ["--set", "steps=30", "--set", "distillation=0", "--set", "dimension=64", "--set", "cuts=32"]


def _run(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("runs") / "run"
    result = _run("train", "fast", "--scale", "smoke", "--out", str(directory), *FEW)
    assert result.exit_code == 0, result.output
    return directory


def test_a_smoke_run_ends_in_a_measured_bundle(trained: Path) -> None:
    bundle = read_bundle(trained / "bundle")
    assert bundle.manifest.recipe.parameters["steps"] == 30
    figures = {row.protocol: row for row in bundle.manifest.quality}
    assert figures["tatoeba"].value > 30
    assert figures["tatoeba"].command.startswith("interlingua evaluate --model interlingua-fast")
    assert figures["demo"].machine
    (source,) = bundle.manifest.data
    assert (source.name, source.licence) == ("template_sentences", "Apache-2.0")
    assert Encoder(bundle).encode("The king sees the river.").shape == (64,)


def test_the_same_command_again_trains_nothing(trained: Path) -> None:
    log = (trained / "train/metrics.jsonl").read_bytes()
    result = _run("train", "fast", "--scale", "smoke", "--out", str(trained), *FEW)
    assert result.exit_code == 0, result.output
    assert "going on after step 30" in result.output
    assert (trained / "train/metrics.jsonl").read_bytes() == log


def test_a_run_that_is_interrupted_ends_as_shells_expect(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("training.run.train", interrupt)
    result = _run("train", "bicvm", "--scale", "smoke", "--out", str(tmp_path / "run"))
    assert result.exit_code == 130
    assert f"goes on from what {tmp_path / 'run'} holds" in result.stderr


def test_other_parameters_in_the_same_place_are_refused(trained: Path) -> None:
    result = _run("train", "fast", "--scale", "smoke", "--out", str(trained))
    assert result.exit_code == 1
    assert "parameters.steps" in result.output
    assert "--fresh" in result.output


def test_a_run_is_exported_again(trained: Path, tmp_path: Path) -> None:
    result = _run("export", str(trained), str(tmp_path / "again"))
    assert result.exit_code == 0, result.output
    again, first = read_bundle(tmp_path / "again"), read_bundle(trained / "bundle")
    assert again.manifest.identity == first.manifest.identity


def test_a_run_is_exported_in_another_precision(trained: Path, tmp_path: Path) -> None:
    result = _run("export", str(trained), str(tmp_path / "full"), "--set", "precision=fp32")
    assert result.exit_code == 0, result.output
    full, first = read_bundle(tmp_path / "full"), read_bundle(trained / "bundle")
    assert (full.manifest.precision, first.manifest.precision) == ("fp32", "int4")
    one, other = (Encoder(bundle).encode("The king sees the river.") for bundle in (full, first))
    assert 0.98 < one @ other < 0.99999


def test_exported_vectors_are_whitened_in_part(trained: Path, tmp_path: Path) -> None:
    texts = [text for sentence in template_sentences() for text in sentence.texts.values()]
    spreads: dict[str, float] = {}
    for power in ("0", "0.2"):
        setting = ["--set", "precision=fp32", "--set", f"whitening={power}"]
        result = _run("export", str(trained), str(tmp_path / power), *setting)
        assert result.exit_code == 0, result.output
        vectors = Encoder(read_bundle(tmp_path / power)).encode(texts, normalize=False)
        found = np.linalg.eigvalsh(np.cov(vectors.T))
        spreads[power] = float(np.sqrt(found.max() / found.mean()))
    assert spreads["0"] > 1.1 * spreads["0.2"]


def test_what_training_has_read_is_not_changed_at_export(trained: Path, tmp_path: Path) -> None:
    result = _run("export", str(trained), str(tmp_path / "other"), "--set", "pieces=300")
    assert result.exit_code == 1
    assert "pieces was read in training" in result.output
    assert "precision, weight_power, whitening, scored_steps, scored_kept, max_tokens" in (
        result.output
    )
    assert not (tmp_path / "other").exists()


def test_evaluation_prints_json_and_leaves_the_bundle_alone(trained: Path) -> None:
    before = (trained / "bundle/bundle.json").read_bytes()
    data = str(trained / "cache/templates")
    result = _run(
        "evaluate", "--model", str(trained), "--data", data, "--languages", "de,fr", "--json"
    )
    assert result.exit_code == 0, result.output
    figures = {row["protocol"]: row for row in json.loads(result.stdout)}
    assert set(figures["tatoeba"]["by_language"]) == {"de", "fr"}
    assert set(figures["sts"]["by_language"]) == {"de", "fr"}
    assert set(figures["demo"]["matrix"]) == {"de", "fr"}
    assert (trained / "bundle/bundle.json").read_bytes() == before


def test_a_head_of_english_text_answers_in_other_languages(trained: Path, tmp_path: Path) -> None:
    topics = write_template_folder(tmp_path / "data") / "eval/topics"
    result = _run(
        *("train", "head", "--model", str(trained / "bundle"), "--out", str(tmp_path / "topics")),
        *("--data", str(topics / "en.train.tsv.gz"), "--dev", str(topics)),
    )
    assert result.exit_code == 0, result.output
    head = read_head(tmp_path / "topics")
    assert head.labels == ("culture", "food", "home", "nature", "travel")
    (measured,) = head.manifest.quality
    assert measured.by_language["de"] > 40  # a fifth by chance


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["train", "fats"], "Did you mean 'fast'"),
        (["train", "fast", "--scale", "smoke", "--set", "stepz=1"], "Did you mean 'steps'"),
        (["train", "fast"], "parallel/<source>/<lang>.txt(.gz)"),
        (["train", "fast", "--scale", "huge"], "'smoke', 'small', 'paper'"),
        (["export", ".", "somewhere"], "is no run"),
    ],
)
def test_what_cannot_be_is_refused_with_a_remedy(
    arguments: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = _run(*arguments)
    assert result.exit_code in (1, 2)
    assert said in result.output
    assert "Traceback" not in result.output
    assert list(tmp_path.iterdir()) == []


def test_research_only_text_is_refused(tmp_path: Path) -> None:
    folder = write_template_folder(tmp_path / "data")
    (folder / "parallel/template_sentences").rename(folder / "parallel/multi30k")
    arguments = ["train", "fast", "--scale", "smoke", "--data", str(folder), *FEW]
    arguments += ["--set", "sources=multi30k", "--out", str(tmp_path / "run")]
    result = _run(*arguments)
    assert result.exit_code == 1
    assert "research use only" in result.output


def test_recipes_are_listed() -> None:
    result = _run("recipes")
    assert result.exit_code == 0, result.output
    assert "fast" in result.output


def test_the_commands_are_there_without_torch() -> None:
    """Listing the training commands must not import what only training needs."""
    script = (
        "import sys; from training.cli import commands; from click.testing import CliRunner;"
        "assert CliRunner().invoke(commands[0], ['--help']).exit_code == 0;"
        "heavy = {'torch', 'onnx', 'sklearn', 'scipy', 'numpy'} & set(sys.modules);"
        "sys.exit(f'imported {heavy}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_folder_without_files_to_measure_a_head_on_is_refused(tmp_path: Path) -> None:
    data = tmp_path / "en.train.tsv"
    data.touch()
    result = _run(
        *("train", "head", "--model", "none", "--data", str(data), "--out", str(tmp_path / "head")),
        *("--dev", str(tmp_path)),
    )
    assert result.exit_code == 2
    assert "holds no file <lang>.dev.tsv(.gz)" in result.output
    assert not (tmp_path / "head").exists()
