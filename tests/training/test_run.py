"""What is asked for on the command line and is no parameter of the recipe."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from service.errors import ConflictError, InputError, StorageError
from training.checkpoints import BEST_FILE
from training.data.templates import write_template_folder
from training.locks import sole
from training.metrics import METRICS_FILE, read_metrics
from training.progress import Progress
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


def test_a_source_to_hold_out_that_is_not_there_is_refused_before_anything_is_written(
    tmp_path: Path,
) -> None:
    data = write_template_folder(tmp_path / "data")
    for folder in (None, data):
        with pytest.raises(InputError, match="Did you mean 'template_sentences'") as caught:
            open_run(
                "bicvm",
                "smoke",
                tmp_path / "run",
                data=folder,
                assignments=("held_out_source=template_sentence",),
            )
        assert (caught.value.field, caught.value.given) == (
            "held_out_source",
            "'template_sentence'",
        )
    assert not (tmp_path / "run").exists()
    open_run("bicvm", "smoke", tmp_path / "run", assignments=("held_out_source=",))


def test_a_recipes_own_source_to_hold_out_may_be_missing_which_is_said(tmp_path: Path) -> None:
    data = write_template_folder(tmp_path / "data")
    said = io.StringIO()
    chosen = ("sources=template_sentences", "iterations=1", "noise=4", "noise_pool=none")
    run = open_run(
        "bicvm", "small", tmp_path / "run", data=data, assignments=chosen, progress=Progress(said)
    )
    train(run)
    assert f"ntrex: not in {data}, so nothing is held out" in said.getvalue()


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


@pytest.mark.parametrize(
    ("recipe", "assignment", "field"),
    [
        ("bicvm", "develop_every=0", "--patience"),
        ("bicvm", "held_out_source=", "held_out_source"),
        ("chidambaram", "held_out_source=", "held_out_source"),
        ("fast", "held_out_source=", "held_out_source"),
        ("li-ntdv", "held_out_first=255", "held_out_source"),  # one row, for the shared layers
    ],
)
def test_patience_with_nothing_to_watch_is_refused_before_training(
    tmp_path: Path, recipe: str, assignment: str, field: str
) -> None:
    run = open_run(recipe, "smoke", tmp_path / "run", assignments=(assignment,))
    with pytest.raises(InputError) as caught:
        train(run, patience=1)
    assert caught.value.field == field
    assert not list((tmp_path / "run").glob("*/metrics.jsonl"))


def test_without_patience_all_steps_are_trained_and_the_last_weights_kept(tmp_path: Path) -> None:
    changes = (*STANDING_STILL, "iterations=2")
    run = open_run("bicvm", "smoke", tmp_path / "run", assignments=changes)
    train(run, precision="bf16")
    stage = run.work.stage("train")
    assert len(read_metrics(stage / METRICS_FILE, "train")) == 14
    assert not (stage / BEST_FILE).exists()
