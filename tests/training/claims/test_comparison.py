"""All systems side by side: the table and the picture, of figures that are known."""

from __future__ import annotations

from pathlib import Path

import pytest

from training.claims import comparison
from training.claims.quantities import Measured, Quantity
from training.claims.trained import Run
from training.store import read_json


def test_every_system_is_measured_once_a_seed_and_ranked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, str]] = []

    def measure(run: Run, quantity: Quantity, work: Path, data: Path) -> Measured:
        asked.append((run.key, quantity.name))
        good = run.recipe == "bicvm"
        value = {"search error": 10.0 if good else 90.0}.get(quantity.name, 60.0 if good else 30.0)
        return Measured(value + len(asked) % 3)

    monkeypatch.setattr("training.claims.comparison.measure_run", measure)
    monkeypatch.setattr("training.claims.comparison.train_all", lambda *_, **__: None)
    results = tmp_path / "reproduction"
    assert "Not run yet" in comparison.comparison_section(results)
    comparison.run_comparison(work=tmp_path, data=tmp_path, results=results)
    assert len(set(asked)) == len(asked) == 3 * len(comparison.SYSTEMS) * len(comparison.MEASURES)
    assert not comparison.is_stale(results)
    page = comparison.comparison_section(results)
    table = [line for line in page.splitlines() if line.startswith("| ")]
    assert table[1].startswith("| BiCVM+ |")
    rows = read_json(comparison.comparison_file(results))["rows"]
    assert comparison.quality(rows["BiCVM+"]) > comparison.quality(rows["T-MDE"]) + 20
    assert (results / "comparison.svg").exists()


def test_systems_are_named_apart_and_see_the_same_text() -> None:
    sources = {
        assignment
        for system in comparison.SYSTEMS.values()
        for assignment in system.assignments
        if assignment.startswith(("sources=", "held_out_first="))
    }
    assert sources == {"sources=multi30k,wmt_nway", "held_out_first=28452"}
    keys = {system.seeded(0).key for system in comparison.SYSTEMS.values()}
    assert len(keys) == len(comparison.SYSTEMS)
