"""The log of a run's figures."""

from __future__ import annotations

from pathlib import Path

from training.metrics import METRICS_FILE, MetricsLog, read_metrics


def test_rows_after_the_checkpoint_are_taken_out(tmp_path: Path) -> None:
    log = MetricsLog(tmp_path)
    for step in (1, 2, 3):
        log.write("train", step, {"loss": float(step)})
    log.close()
    resumed = MetricsLog(tmp_path, step=2)
    resumed.write("train", 3, {"loss": 30.0})
    resumed.close()
    rows = read_metrics(tmp_path / METRICS_FILE)
    assert [(row["step"], row["loss"]) for row in rows] == [(1, 1.0), (2, 2.0), (3, 30.0)]


def test_a_new_run_begins_an_empty_log(tmp_path: Path) -> None:
    (tmp_path / METRICS_FILE).write_text('{"kind": "train", "step": 7}\n')
    MetricsLog(tmp_path).close()
    assert read_metrics(tmp_path / METRICS_FILE) == []
    assert read_metrics(tmp_path / "none") == []


def test_a_line_that_a_full_disk_broke_off_is_left_out(tmp_path: Path) -> None:
    (tmp_path / METRICS_FILE).write_text('{"kind": "train", "step": 1}\n{"kind": "tra')
    assert read_metrics(tmp_path / METRICS_FILE) == [{"kind": "train", "step": 1}]
    MetricsLog(tmp_path, step=1).close()
    assert (tmp_path / METRICS_FILE).read_text() == '{"kind": "train", "step": 1}\n'
