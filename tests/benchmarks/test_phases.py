from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.servers.phases import PHASES, draw, phases


def test_phases_add_up_to_what_the_client_saw() -> None:
    told = [
        (10.0, "tokenization;dur=1.000, queue;dur=2.000, inference;dur=3.000, total;dur=7.000"),
        (20.0, "tokenization;dur=1.000, queue;dur=4.000, inference;dur=3.000, total;dur=9.000"),
    ]
    spent = phases(told)
    assert sum(spent.values()) == pytest.approx(15.0)
    assert spent == pytest.approx(dict(zip(PHASES, (1.0, 3.0, 3.0, 1.0, 7.0), strict=True)))


def test_a_picture_has_a_panel_for_each_number_of_clients(tmp_path: Path) -> None:
    spent = dict.fromkeys(PHASES, 1.0)
    means = {(n, version): spent for n in (1, 64) for version in ("before", "now")}
    draw(means, tmp_path / "a.svg")
    said = (tmp_path / "a.svg").read_text()
    assert "<!-- 1 client -->" in said
    assert "<!-- 64 clients -->" in said
    assert said.count("<!-- there and back -->") == 1
