"""What runs have in common is trained once, and nothing else is taken for it."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
import torch

from training.data.templates import write_template_folder
from training.progress import Progress
from training.recipes.li_ntdv import BACKWARD, FORWARD, SHARED_LAYERS
from training.run import Run, open_run, train

STAGES = (FORWARD, BACKWARD, SHARED_LAYERS)
SHORT = ("steps=6", "shared_steps=6", "develop_every=0", "log_every=2")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_template_folder(tmp_path_factory.mktemp("data") / "templates")


def trained(
    directory: Path,
    data: Path,
    corpora: Path | None,
    *assignments: str,
    patience: int | None = None,
) -> tuple[Run, set[str]]:
    """Return a run that is trained, and which of its stages were taken from another."""
    said = io.StringIO()
    run = open_run(
        "li-ntdv",
        "smoke",
        directory,
        data=data,
        assignments=(*SHORT, *assignments),
        corpora=corpora,
        progress=Progress(said),
    )
    train(run, patience=patience)
    return run, {stage for stage in STAGES if f"{stage}: taken from" in said.getvalue()}


def same(one: Run, other: Run, stage: str) -> bool:
    weights, others = one.work.trained(stage), other.work.trained(stage)
    return weights.keys() == others.keys() and all(
        torch.equal(weights[name], others[name]) for name in weights
    )


def test_stages_are_taken_from_runs_that_differ_in_what_they_do_not_read(
    data: Path, tmp_path: Path
) -> None:
    shared = tmp_path / "shared"
    first, taken = trained(tmp_path / "cnv", data, shared)
    assert taken == set()
    plain, taken = trained(tmp_path / "nv", data, shared, "beta=0", "heads=2", "draws=3")
    assert taken == {FORWARD, BACKWARD}
    assert same(first, plain, FORWARD)
    assert same(first, plain, BACKWARD)
    assert not same(first, plain, SHARED_LAYERS)
    summed, taken = trained(tmp_path / "sum", data, shared, "vector=sum")
    assert taken == set(STAGES)
    assert same(first, summed, SHARED_LAYERS)
    _, taken = trained(tmp_path / "other", data, shared, "seed=1")
    assert taken == set()


def test_what_is_taken_is_what_would_have_been_trained(data: Path, tmp_path: Path) -> None:
    trained(tmp_path / "cnv", data, tmp_path / "shared")
    changes = ("beta=0", "heads=2", "draws=3", "vector=sum")
    taking, taken = trained(tmp_path / "taking", data, tmp_path / "shared", *changes)
    assert taken == {FORWARD, BACKWARD}
    alone, taken = trained(tmp_path / "alone", data, None, *changes)
    assert taken == set()
    assert all(same(taking, alone, stage) for stage in STAGES)
    longer, _ = trained(tmp_path / "longer", data, None, "shared_steps=8")
    assert same(longer, alone, FORWARD)


def test_a_stage_that_was_asked_for_otherwise_is_not_shared(data: Path, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    developed = ("develop_every=2",)
    for name in ("first", "second"):
        _, taken = trained(tmp_path / name, data, shared, *developed, patience=9)
        assert taken == set()
    _, taken = trained(tmp_path / "third", data, shared, *developed)
    assert taken == set()


def test_a_stage_that_was_broken_off_is_neither_left_to_others_nor_replaced(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = tmp_path / "shared"
    with monkeypatch.context() as broken:
        broken.setattr("training.run.Loop.run", _interrupt)
        with pytest.raises(KeyboardInterrupt):
            trained(tmp_path / "broken", data, shared)
    _, taken = trained(tmp_path / "whole", data, shared)
    assert taken == set()
    _, taken = trained(tmp_path / "broken", data, shared)  # it had no checkpoint yet
    assert taken == set(STAGES)
    _, taken = trained(tmp_path / "whole", data, shared)  # its own are there
    assert taken == set()


def _interrupt(loop: object) -> None:
    raise KeyboardInterrupt
