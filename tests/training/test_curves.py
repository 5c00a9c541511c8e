"""Learning curves."""

from __future__ import annotations

from pathlib import Path

import pytest

from service.errors import InputError
from training.curves import draw_curve
from training.metrics import MetricsLog


@pytest.mark.parametrize("kind", ["svg", "png"])
def test_a_curve_is_drawn_and_drawn_alike_again(tmp_path: Path, kind: str) -> None:
    log = MetricsLog(tmp_path / "train")
    for step in range(1, 4):
        figures = {"loss": 1 / step, "ranking": 1 / step, "seconds": step * 30.0, "words": 900.0}
        log.write("train", step, figures)
    log.write("dev", 3, {"search_error": 20.0, "seconds": 90.0})
    log.close()
    first, second = tmp_path / f"docs/a.{kind}", tmp_path / f"docs/b.{kind}"
    draw_curve(tmp_path / "train", first)
    draw_curve(tmp_path / "train", second)
    assert first.read_bytes() == second.read_bytes()
    if kind == "svg":
        assert "10 words a second" in first.read_text()


def test_without_figures_there_is_no_curve(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no figures"):
        draw_curve(tmp_path, tmp_path / "a.svg")
    with pytest.raises(InputError, match=r"end in \.svg"):
        draw_curve(tmp_path, tmp_path / "a.gif")
