"""`interlingua reproduce`: what is stale is run, in order, and one failure stops no other claim."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from click.testing import CliRunner

from service.errors import InputError, NotFoundError
from training.claims import command, comparison
from training.claims.claim import Claim
from training.claims.command import run_claims, write_report
from training.claims.judge import judge, result_file
from training.claims.ledger import CLAIMS, find_claim, in_order
from training.claims.quantities import Measured
from training.commands.reproduce import reproduce
from training.data.templates import write_template_folder
from training.store import write_json


class _Ledger:
    """Stands for the trainings: notes what is asked for, and may fail once."""

    def __init__(self) -> None:
        self.run: list[str] = []
        self.failing: set[str] = set()
        self.broken: set[str] = set()

    def run_claim(self, claim: Claim, *, results: Path, **_: object) -> dict[str, object]:
        self.run.append(claim.id)
        if claim.id in self.failing:
            raise InputError(f"{claim.id} does not train.")
        if claim.id in self.broken:
            raise TypeError("a bug")
        drawn = random.Random(0)
        cells = {
            cell: [Measured(drawn.random(), (drawn.random(), drawn.random())) for _ in claim.seeds]
            for cell in claim.cells()
        }
        result = {**judge(claim, cells), "verdict": "holds"}
        write_json(result_file(results, claim.id), result)
        return result


@pytest.fixture
def ledger(monkeypatch: pytest.MonkeyPatch) -> _Ledger:
    made = _Ledger()
    monkeypatch.setattr(command, "run_claim", made.run_claim)
    monkeypatch.setattr(command, "draw_claim", lambda *_, **__: None)
    monkeypatch.setattr(comparison, "run_comparison", lambda **_: {})
    return made


@pytest.fixture
def data(tmp_path: Path) -> Path:
    write_template_folder(tmp_path / "data")
    return tmp_path / "data"


def _run(names: tuple[str, ...], tmp_path: Path, data: Path | None) -> list[str]:
    return run_claims(names, data=data, work=tmp_path / "work", results=tmp_path / "reproduction")


def test_all_runs_what_is_stale_and_goes_on_after_a_failure(
    ledger: _Ledger, tmp_path: Path, data: Path
) -> None:
    ledger.failing, ledger.broken = {"S1"}, {"L6"}
    trouble = _run((), tmp_path, data)
    assert trouble == ["S1: S1 does not train.", "L6: TypeError: a bug"]
    assert ledger.run == [claim.id for claim in in_order()]
    assert "34 holds, 0 does not hold, 0 undecided, 2 not run yet" in (
        tmp_path / "reproduction.md"
    ).read_text(encoding="utf-8")
    ledger.run, ledger.failing, ledger.broken = [], set(), set()
    assert _run((), tmp_path, data) == []
    assert ledger.run == ["S1", "L6"]
    path = result_file(tmp_path / "reproduction", "L6")
    path.write_text(path.read_text().replace(find_claim("L6").key(), "of other parameters"))
    ledger.run = []
    _run((), tmp_path, data)
    assert ledger.run == ["L6"]


def test_a_comparison_that_fails_hides_no_other_trouble(
    ledger: _Ledger, tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(**_: object) -> dict[str, object]:
        raise InputError("BiCVM+ does not train.")

    monkeypatch.setattr(comparison, "run_comparison", fail)
    ledger.failing = {"S1"}
    trouble = _run(("S1", "H1", "comparison"), tmp_path, data)
    assert trouble == ["S1: S1 does not train.", "comparison: BiCVM+ does not train."]


def test_options_of_the_smoke_test_are_refused_without_it() -> None:
    for option in (["--recipe", "yu"], ["--out", "runs"]):
        result = CliRunner().invoke(reproduce, option)
        assert result.exit_code == 2
        assert "are for --smoke" in result.output


def test_a_named_claim_is_run_whether_stale_or_not(
    ledger: _Ledger, tmp_path: Path, data: Path
) -> None:
    for _ in range(2):
        assert _run(("h1", "S9"), tmp_path, data) == []
    assert ledger.run == ["H1", "S9"] * 2


def test_what_is_missing_is_said_before_anything_runs(
    ledger: _Ledger, tmp_path: Path, data: Path
) -> None:
    with pytest.raises(NotFoundError, match="Did you mean"):
        _run(("S12",), tmp_path, data)
    with pytest.raises(InputError, match="--data"):
        _run(("S1",), tmp_path, None)
    assert ledger.run == []


def test_the_report_is_made_beside_the_results(tmp_path: Path) -> None:
    page = write_report(tmp_path / "reproduction")
    assert page == tmp_path / "reproduction.md"
    text = page.read_text(encoding="utf-8")
    assert text.count("\n### ") == len(CLAIMS)
    assert f"{len(CLAIMS)} not run yet" in text
