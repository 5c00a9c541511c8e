"""What is asked for on the command line and is no parameter of the recipe."""

from __future__ import annotations

from pathlib import Path

import pytest

from service.errors import ConflictError, StorageError
from training.checkpoints import BEST_FILE
from training.locks import sole
from training.metrics import METRICS_FILE, read_metrics
from training.run import open_run, train
from training.workspace import LOCK_FILE

STANDING_STILL = ("rate=1e-30", "l2=0", "develop_every=4", "log_every=1")


def test_a_second_process_is_refused_while_the_first_trains(tmp_path: Path) -> None:
    run = open_run("bicvm", "smoke", tmp_path / "run", assignments=("iterations=1",))
    with sole(tmp_path / "run" / LOCK_FILE):
        with pytest.raises(ConflictError, match="Another process trains in"):
            train(run)
        with pytest.raises(ConflictError, match="Another process trains in"):
            open_run("bicvm", "smoke", tmp_path / "run", fresh=True)
    assert not (tmp_path / "run" / "train").exists()
    train(run)


def test_sentences_whose_writing_was_broken_off_are_written_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(root: Path) -> None:
        raise StorageError(f"{root} is full")

    with monkeypatch.context() as broken:
        broken.setattr("training.run.write_template_tasks", full)
        with pytest.raises(StorageError):
            open_run("bicvm", "smoke", tmp_path / "run").work.folder()
    folder = open_run("bicvm", "smoke", tmp_path / "run").work.folder()
    assert folder.evaluation_files("dialogue", "*")


def test_patience_ends_a_stage_and_keeps_the_best(tmp_path: Path) -> None:
    run = open_run("bicvm", "smoke", tmp_path / "run", assignments=STANDING_STILL)
    train(run, patience=2)
    stage = run.work.stage("train")
    rows = read_metrics(stage / METRICS_FILE, "dev")
    assert [row["step"] for row in rows] == [4, 8, 12]  # the best, and two that are no better
    assert (stage / BEST_FILE).exists()


def test_without_patience_all_steps_are_trained_and_the_last_weights_kept(tmp_path: Path) -> None:
    changes = (*STANDING_STILL, "iterations=2")
    run = open_run("bicvm", "smoke", tmp_path / "run", assignments=changes)
    train(run, precision="bf16")
    stage = run.work.stage("train")
    assert len(read_metrics(stage / METRICS_FILE, "train")) == 14
    assert not (stage / BEST_FILE).exists()
