"""From data to verdict on made-up sentences: cached, resumed, never half."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pytest
from scipy import stats

from service.errors import InputError
from tests.training.claims.made_claim import SEARCH, made_claim
from training.claims import trained
from training.claims.claim import Part
from training.claims.judge import is_current, is_stale, judge, run_claim
from training.claims.pictures import draw_claim
from training.claims.quantities import Measured, Quantity, figures_file, measure_run
from training.claims.report import report
from training.claims.trained import bundle_megabytes, training_speed
from training.claims.verdict import SECOND_LOOK_LEVEL
from training.data.templates import write_template_folder
from training.evaluation.similarity_search import SimilaritySearch
from training.store import read_json, write_json


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("data") / "templates"
    write_template_folder(root)
    return root


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("work")


@pytest.fixture(scope="module")
def results(work: Path, data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("docs") / "reproduction"
    run_claim(made_claim(), work=work, data=data, results=directory)
    return directory


def test_a_claim_runs_from_data_to_verdict(results: Path) -> None:
    result = read_json(results / "X1.json")
    (part,) = result["parts"]
    means = [cell["mean"] for cell in part["cells"]]
    assert means[0] < means[1]
    assert part["test"]["difference"] == pytest.approx(means[0] - means[1], abs=0.01)
    assert result["verdict"] == part["verdict"]
    assert result["machine"]
    assert result["versions"]["torch"]
    assert "--set iterations=4" in result["systems"]["long"]
    assert not is_stale(made_claim(), results)
    assert is_stale(made_claim(seeds=(0, 1, 2)), results)


def test_a_result_of_another_level_or_of_swapped_sides_is_stale(results: Path) -> None:
    result = read_json(results / "X1.json")
    assert is_current(made_claim(), result)
    assert not is_current(made_claim(), {**result, "level": SECOND_LOOK_LEVEL})
    swapped = Part(says="search", quantity=SEARCH, first="short", second="long")
    assert not is_current(made_claim(parts=(swapped,)), {**result, "key": _key_of(swapped)})


def _key_of(part: Part) -> str:
    return made_claim(parts=(part,)).key()


def test_what_is_measured_is_not_measured_again(
    results: Path, work: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("training.claims.quantities.train_run", _never)
    monkeypatch.setattr("training.claims.quantities.open_model", _never)
    again = run_claim(made_claim(), work=work, data=data, results=results)
    assert again["key"] == made_claim().key()


def test_a_figure_that_was_lost_is_measured_on_the_run_that_is_there(
    results: Path, work: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert results.exists()
    run = made_claim().systems["long"].seeded(0)
    place = figures_file(run, SEARCH, work, data)
    before = read_json(place)
    place.unlink()
    (place.parent / f"{place.name}.1.part").write_text('{"figures": [')  # broken off in between
    monkeypatch.setattr("training.claims.trained.subprocess.run", _never)
    measure_run(run, SEARCH, work, data)
    assert read_json(place) == before


def test_figures_of_other_text_or_of_a_changed_protocol_are_others(
    work: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = made_claim().systems["long"].seeded(0)
    speed = Quantity(name="speed", protocol="training-speed")
    other = write_template_folder(tmp_path / "other", seed=1)
    kept, read = figures_file(run, SEARCH, work, data), figures_file(run, speed, work, data)
    assert figures_file(run, SEARCH, work, other) != kept
    assert figures_file(run, speed, work, other) == read
    # As if the protocol had other settings of its own than when the figure was kept.
    changed = SimilaritySearch(partner="another")
    monkeypatch.setattr("training.claims.quantities.make_protocol", lambda *_: changed)
    assert figures_file(run, SEARCH, work, data) != kept
    assert figures_file(run, speed, work, data) == read


def test_speed_and_size_are_read_from_a_run(results: Path, work: Path) -> None:
    assert results.exists()
    directory = made_claim().systems["long"].seeded(0).place(work)
    assert training_speed(directory) > 100
    assert bundle_megabytes(directory) > 0.001
    assert not (directory / "cache").exists()
    with pytest.raises(InputError, match="no log of its speed"):
        training_speed(work)


def test_a_run_that_fails_says_why(work: Path, data: Path) -> None:
    run = trained.Run("bicvm", ("sources=nowhere",))
    with pytest.raises(InputError, match="nowhere"):
        measure_run(run, SEARCH, work, data)
    assert not run.is_trained(work)


def test_a_comparison_of_two_measures_on_one_system(work: Path, data: Path, tmp_path: Path) -> None:
    rows = Quantity(
        name="few rows",
        protocol="search",
        assignments=("source=template_sentences", "rows=224,234"),
        better="lower",
    )
    part = Part(
        says="fewer", quantity=rows, first="long", against=SEARCH, relation="not worse", bound=99
    )
    claim = made_claim(id="X2", parts=(part,), systems={"long": made_claim().systems["long"]})
    result = cast(dict[str, Any], run_claim(claim, work=work, data=data, results=tmp_path))
    (judged,) = result["parts"]
    assert [cell["quantity"] for cell in judged["cells"]] == ["few rows", "search error"]
    means = [cell["mean"] for cell in judged["cells"]]
    assert judged["test"]["difference"] == pytest.approx(means[0] - means[1], abs=0.01)
    # Ten rows are no harder than 32, in any run.
    assert judged["test"]["high"] < 99
    assert result["verdict"] == "holds"
    assert is_stale(made_claim(id="X2"), tmp_path)


def test_what_is_not_independent_is_paired_and_systems_are_not(tmp_path: Path) -> None:
    rows = Quantity(name="few rows", protocol="search", assignments=("rows=224,234",))
    parts = (
        Part(says="rows", quantity=rows, first="long", against=SEARCH),
        Part(says="systems", quantity=SEARCH, first="long", second="short"),
        Part(says="a start", quantity=SEARCH, first="long", second="short", shared=True),
    )
    values = {
        ("long", rows): (61.0, 76.1, 90.9),
        ("long", SEARCH): (60.0, 75.0, 90.0),
        ("short", SEARCH): (59.0, 76.0, 88.0),
    }
    claim = made_claim(parts=parts, seeds=(0, 1, 2))
    cells = {cell: [Measured(value) for value in figures] for cell, figures in values.items()}
    result = cast(dict[str, Any], judge(claim, cells))
    of_one, of_two, of_one_start = result["parts"]
    same_runs = stats.ttest_rel(values["long", rows], values["long", SEARCH])
    two_systems = stats.ttest_ind(values["long", SEARCH], values["short", SEARCH], equal_var=False)
    assert of_one["test"]["p"] == pytest.approx(same_runs.pvalue, abs=1e-4)
    assert of_two["test"]["p"] == pytest.approx(two_systems.pvalue, abs=1e-4)
    one_start = stats.ttest_rel(values["long", SEARCH], values["short", SEARCH])
    assert of_one_start["test"]["p"] == pytest.approx(one_start.pvalue, abs=1e-4)
    assert claim.key() != made_claim(parts=parts[1:], seeds=(0, 1, 2)).key()
    apart = made_claim(parts=parts[1:2], seeds=(0, 1, 2))
    assert apart.key() != made_claim(parts=parts[2:], seeds=(0, 1, 2)).key()
    write_json(tmp_path / "X1.json", result)
    page = report(tmp_path, (claim,))
    assert "| systems | better | " in page
    assert all(f"| {says} | better, paired | " in page for says in ("rows", "a start"))


def test_a_side_that_has_not_learnt_decides_nothing(
    results: Path, work: Path, data: Path, tmp_path: Path
) -> None:
    assert results.exists()
    part = Part(says="search", quantity=SEARCH, first="long", second="short", learnt=0.5)
    claim = made_claim(parts=(part,))
    assert claim.key() != made_claim().key()
    result = run_claim(claim, work=work, data=data, results=tmp_path)
    assert result["verdict"] == "undecided"
    assert "one has not learnt" in report(tmp_path, (claim,))


def test_whether_a_side_has_learnt_may_be_told_by_another_figure() -> None:
    speed = Quantity(name="speed", protocol="speed")
    part = Part(
        says="speed",
        quantity=speed,
        first="long",
        second="short",
        learnt=90.0,
        learnt_by=SEARCH,
    )
    claim = made_claim(parts=(part,), seeds=(0, 1, 2))
    values = {
        ("long", speed): [30.0, 31.0, 32.0],
        ("short", speed): [10.0, 11.0, 12.0],
        ("long", SEARCH): [5.0, 6.0, 7.0],
        ("short", SEARCH): [80.0, 85.0, 95.0],
    }
    assert set(claim.cells()) == set(values)

    def verdict() -> object:
        return judge(claim, {cell: [Measured(v, ()) for v in values[cell]] for cell in values})[
            "verdict"
        ]

    assert verdict() == "holds"
    values["short", SEARCH] = [90.0, 95.0, 99.0]
    assert verdict() == "undecided"


def test_the_page_shows_results_and_what_is_not_run(results: Path, work: Path, data: Path) -> None:
    claim, other = made_claim(), made_claim(id="X9", says="Another.")
    result = read_json(results / "X1.json")
    draw_claim(claim, result, results, work=work, data=data)
    first = (results / "X1.svg").read_bytes()
    draw_claim(claim, result, results, work=work, data=data)
    assert (results / "X1.svg").read_bytes() == first
    page = report(results, (claim, other))
    assert f"**{result['verdict']}**" in page
    assert "1 not run yet" in page
    assert "](reproduction/X1.svg)" in page
    assert "`interlingua reproduce X1 --data DATA`" in page
    assert "earlier settings" not in page
    changed = report(results, (made_claim(seeds=(0, 1, 2)), other))
    assert "0 undecided, 1 to be run again, 1 not run yet" in changed
    assert "measured with earlier settings" in changed


def test_files_are_whole_or_not_there(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    write_json(path, {"a": 1})
    with pytest.raises(TypeError):
        write_json(path, {"a": object()})
    assert json.loads(path.read_text()) == {"a": 1}
    assert list(tmp_path.iterdir()) == [path]


def _never(*arguments: object, **options: object) -> None:
    raise AssertionError("nothing is to be done again")
