"""Two processes against one, through the standard launcher."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from service.bundle.reader import read_bundle
from tests.training.short_runs import STEPS, losses, short_run, without_dropout
from training.metrics import METRICS_FILE, read_metrics
from training.recipe import recipe_names
from training.reproduce import System
from training.run import train

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
COMMAND = Path(sys.executable).with_name("interlingua")

_LOOP = """
import sys
from pathlib import Path
import torch
from tests.training.test_loop import make_phase
from training.loop import Loop
from training.parallel import process_group

torch.set_num_threads(1)
with process_group():
    Loop(make_phase(), Path(sys.argv[1]), device=torch.device("cpu")).run()
"""

_RECIPES = """
import sys
from pathlib import Path
from tests.training.short_runs import short_run, without_dropout
from training.parallel import process_group
from training.recipe import recipe_names
from training.reproduce import System
from training.run import train

with process_group():
    for name in recipe_names():
        train(short_run(System(name, name, without_dropout(name)), Path(sys.argv[1]) / name))
"""


def _launch(*command: str | Path, cwd: Path = ROOT) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        command, env=environment, cwd=cwd, capture_output=True, text=True, timeout=280
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_two_processes_have_the_loss_curve_of_one(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(_LOOP)
    curves = []
    for launcher in ([sys.executable], TORCHRUN):
        directory = tmp_path / str(len(launcher))
        _launch(*launcher, script, directory)
        curves.append([row["loss"] for row in read_metrics(directory / METRICS_FILE)])
    assert len(curves[0]) == 12
    assert curves[1] == pytest.approx(curves[0], rel=1e-3)


@pytest.fixture(scope="module")
def by_two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every recipe, trained by two processes."""
    directory = tmp_path_factory.mktemp("two")
    script = directory / "train.py"
    script.write_text(_RECIPES)
    _launch(*TORCHRUN, script, directory)
    return directory


@pytest.mark.parametrize("name", recipe_names())
def test_a_recipe_has_the_loss_curve_of_one_process(
    name: str, by_two: Path, tmp_path: Path
) -> None:
    run = short_run(System(name, name, without_dropout(name)), tmp_path / "run")
    train(run)
    for stage in run.recipe.stages:
        whole = losses(run.work.stage(stage.name))
        assert len(whole) == STEPS
        found = losses(by_two / name / stage.name)
        assert found == pytest.approx(whole, rel=1e-3)
    assert read_bundle(by_two / name / "bundle").manifest.recipe is not None


def test_the_command_is_launched_as_any_other(tmp_path: Path) -> None:
    arguments = ["train", "fast", "--scale", "smoke", "--set", "steps=30", "--out", "run"]
    arguments += ["--set", "distillation=0", "--set", "dimension=64", "--set", "cuts=32"]
    _launch(*TORCHRUN, "--no-python", COMMAND, *arguments, cwd=tmp_path)
    figures = {row.protocol: row for row in read_bundle(tmp_path / "run/bundle").manifest.quality}
    assert figures["tatoeba"].value > 30
