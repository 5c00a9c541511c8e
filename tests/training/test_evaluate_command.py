"""`interlingua evaluate`, from the command line: what it prints, draws, and refuses."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from service.cli import main
from tests.tiny_bundle import make_tiny_bundle
from training.data.templates import write_template_folder

SEARCH = ("--protocol", "search", "--set", "source=template_sentences", "--set", "rows=0,99")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(make_tiny_bundle(tmp_path_factory.mktemp("models") / "tiny"))


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_template_folder(tmp_path_factory.mktemp("data"))


def _evaluate(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["evaluate", *arguments])


def test_a_table_json_and_a_picture(model: str, data: Path, tmp_path: Path) -> None:
    arguments = ("--model", model, "--data", str(data), "--languages", "en,de", *SEARCH)
    table = _evaluate(*arguments, "--plot", str(tmp_path / "new/matrix.svg"))
    assert table.exit_code == 0, table.output
    assert "search error over all pairs" in table.output
    assert (tmp_path / "new/matrix.svg").stat().st_size > 1000
    (figure,) = json.loads(_evaluate(*arguments, "--json").stdout)
    assert figure["matrix"].keys() == {"en", "de"}


def test_several_protocols_at_once(model: str, data: Path) -> None:
    result = _evaluate(
        *("--model", model, "--data", str(data), "--languages", "en,de", "--json"),
        *("--protocol", "sts", "--protocol", "tatoeba"),
    )
    assert [figure["protocol"] for figure in json.loads(result.stdout)] == ["sts", "tatoeba"]


def test_languages_may_have_blanks_between(model: str, data: Path) -> None:
    """Those for which there are files are measured, where no protocol is named."""
    result = _evaluate(
        *("--model", model, "--data", str(data), "--json"), *("--languages", "xx, de")
    )
    assert result.exit_code == 0, result.output
    figures = json.loads(result.stdout)
    assert {figure["protocol"] for figure in figures} >= {"tatoeba"}
    assert figures[0]["by_language"].keys() == {"de"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--model", "http://127.0.0.1:1", "--record"], "Measure the bundle's directory"),
        (["--model", "interlingua-fast", "--record"], "no directory interlingua-fast"),
        (["--model", "MODEL", "--plot", "a.gif"], "end in"),
    ],
)
def test_figures_that_cannot_be_kept_are_not_measured(
    arguments: list[str], said: str, model: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def measured(*_: object) -> None:
        raise AssertionError

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("training.evaluation.models.open_model", measured)
    given = [model if argument == "MODEL" else argument for argument in arguments]
    result = _evaluate(*given, "--protocol", "demo")
    assert result.exit_code == 1
    assert said in result.stderr


def test_figures_are_printed_before_they_are_written(
    model: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("training.evaluation.plots.draw_figures", refuse)
    plot = ("--plot", str(tmp_path / "a.svg"))
    result = _evaluate("--model", model, "--protocol", "demo", *plot)
    assert result.exit_code == 1
    assert "demo" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--protocol", "serch"], "Did you mean 'search'"),
        (["--protocol", "search", "--set", "sauce=ntrex"], "Did you mean 'source'"),
        (["--protocol", "search", "--set", "rows=1"], "rows are two numbers"),
        (["--protocol", "search", "--set", "rows=one,two"], "takes int"),
        (
            ["--protocol", "sts", "--protocol", "demo", "--set", "cross=true"],
            "one protocol",
        ),
        (["--protocol", "search"], "no source of that name"),
        ([*SEARCH, "--languages", "en,sw"], "has no sw"),
        ([*SEARCH, "--languages", "en"], "2 languages or more"),
        ([*SEARCH, "--languages", "en,de", "--plot", "a.gif"], "end in"),
        (["--protocol", "nli"], "has no en.snli_dev"),
        (["--protocol", "senteval"], "There is no such parameter"),
        (["--protocol", "classification", "--set", "classifier=knn"], "has no such value"),
        (["--protocol", "classification", "--languages", "en,de"], "has labelled text"),
        (
            ["--protocol", "classification", "--set", "sets=topics", "--set", "column=topic"],
            "the header lacks topic",
        ),
        ([*SEARCH, "--languages", "en, en"], "2 languages or more"),
        (["--protocol", "few-shot", "--languages", "en"], "other languages than en"),
        (["--protocol", "few-shot", "--set", "draws=0"], "draws and sizes are at least 1"),
        (["--protocol", "few-shot", "--set", "sizes=0"], "draws and sizes are at least 1"),
        (["--protocol", "few-shot", "--set", "parts=200"], "parts are percents"),
        (["--protocol", "few-shot", "--set", "parts=-10"], "parts is 0 or more"),
        (["--protocol", "p-at-n", "--set", "others=0"], "best and others are at least 1"),
        (["--protocol", "p-at-n", "--set", "seed=-1"], "seed is 0 or more"),
        (["--protocol", "p-at-n", "--set", "rows=9,2"], "rows are two numbers"),
        (["--protocol", "eigen", "--set", "size=1"], "of a size of 2 or more"),
        (["--protocol", "classification", "--set", "folds=0"], "folds are at least 1"),
        (["--protocol", "classification", "--set", "documents=1"], "documents none or at least 2"),
        (["--protocol", "nli", "--set", "fit="], "fit names a file or more"),
    ],
)
def test_what_cannot_be_measured_is_refused(
    arguments: list[str], said: str, model: str, data: Path
) -> None:
    chosen = arguments if "--languages" in arguments else [*arguments, "--languages", "en,de"]
    result = _evaluate("--model", model, "--data", str(data), *chosen)
    assert result.exit_code in (1, 2)
    assert said in result.output
    assert "Traceback" not in result.output


def test_tasks_that_are_not_there_are_named(model: str, data: Path) -> None:
    result = _evaluate("--model", model, "--data", str(data), "--protocol", "senteval")
    assert result.exit_code == 1
    assert "neither mr.tsv" in result.output
    none = ("--protocol", "senteval", "--set", "tasks=")
    assert "tasks one or more" in _evaluate("--model", model, "--data", str(data), *none).output


def test_models_that_are_none_are_refused(data: Path, tmp_path: Path) -> None:
    head = Path(__file__).parents[2] / "models/topic"
    for place, said in (
        (str(tmp_path / "none"), "no such directory"),
        (str(tmp_path), "bundle.json"),
        (str(head), "This is a classifier"),
        ("http://127.0.0.1:9", "No server answers"),
    ):
        result = _evaluate("--model", place, "--data", str(data), "--protocol", "demo")
        assert result.exit_code == 1
        assert said in result.output


def test_an_unreadable_corpus_is_named(model: str, tmp_path: Path) -> None:
    data = write_template_folder(tmp_path)
    file = data / "parallel/template_sentences/de.txt.gz"
    file.write_bytes(file.read_bytes()[:200])
    result = _evaluate("--model", model, "--data", str(data), "--languages", "en,de", *SEARCH)
    assert result.exit_code == 1
    assert "de.txt.gz" in result.output
    file.write_bytes(gzip.compress(b"one line\n"))
    result = _evaluate("--model", model, "--data", str(data), "--languages", "en,de", *SEARCH)
    assert result.exit_code == 1
    assert "alignment is lost" in result.output


def test_figures_go_into_the_bundle(data: Path, tmp_path: Path) -> None:
    bundle = make_tiny_bundle(tmp_path / "tiny")
    arguments = ("--model", str(bundle), "--data", str(data), "--languages", "en,de", *SEARCH)
    result = _evaluate(*arguments, "--record")
    assert result.exit_code == 0, result.output
    (row,) = json.loads((bundle / "bundle.json").read_text())["quality"]
    assert row["command"] == (
        "interlingua evaluate --model tiny --protocol search --set source=template_sentences "
        "--set rows=0,99 --set languages=en,de --data DATA"
    )
