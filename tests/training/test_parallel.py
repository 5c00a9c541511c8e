"""Two processes against one, through the standard launcher."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
import torch

from service.bundle.reader import read_bundle
from tests.training import test_loop, test_translation
from tests.training.short_runs import STEPS, losses, short_run, without_dropout
from training.loop import Loop
from training.recipe import recipe_names
from training.reproduce import System

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
COMMAND = Path(sys.executable).with_name("interlingua")

_TWO = """
import sys
from pathlib import Path
import torch
from tests.training import test_loop, test_translation
from tests.training.short_runs import short_run, without_dropout
from training.loop import Loop
from training.parallel import process_group
from training.recipe import recipe_names
from training.reproduce import System
from training.run import train

torch.set_num_threads(1)
directory = Path(sys.argv[1])
with process_group():
    for made in (test_loop, test_translation):
        torch.manual_seed(0)
        Loop(made.make_phase(), directory / made.__name__, device=torch.device("cpu")).run()
    for name in recipe_names():
        train(short_run(System(name, name, without_dropout(name)), directory / name))
"""


def _launch(*command: str | Path, cwd: Path = ROOT) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        command, env=environment, cwd=cwd, capture_output=True, text=True, timeout=280
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def by_two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two phases, then every recipe, trained by the same two processes: to start them is dear."""
    directory = tmp_path_factory.mktemp("two")
    script = directory / "train.py"
    script.write_text(_TWO)
    _launch(*TORCHRUN, script, directory)
    return directory


@pytest.mark.parametrize("made", [test_loop, test_translation])
def test_two_processes_have_the_loss_curve_of_one(
    made: ModuleType, by_two: Path, tmp_path: Path
) -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    Loop(made.make_phase(), tmp_path, device=torch.device("cpu")).run()
    whole = losses(tmp_path)
    assert len(whole) == 12
    assert losses(by_two / made.__name__) == pytest.approx(whole, rel=1e-3)


@pytest.mark.parametrize("name", recipe_names())
def test_a_recipe_has_the_loss_curve_of_one_process(
    name: str, by_two: Path, tmp_path: Path
) -> None:
    run = short_run(System(name, name, without_dropout(name)), tmp_path / "run")
    for stage in run.recipe.stages:
        torch.manual_seed(getattr(run.parameters, "seed", 0))
        own, others = run.work.stage(stage.name), by_two / name / stage.name
        Loop(stage.build(run.parameters, run.work), own, device=run.work.device).run()
        whole = losses(own)
        assert len(whole) == STEPS
        assert losses(others) == pytest.approx(whole, rel=1e-3)
        # What comes next begins where the two left this: a stage that rounds weights makes whole
        # steps of differences in their last digits.
        shutil.copytree(others, own, dirs_exist_ok=True)
    recipe = read_bundle(by_two / name / "bundle").manifest.recipe
    assert (recipe.name, recipe.scale) == (name, "smoke")


def test_the_command_is_launched_as_any_other(tmp_path: Path) -> None:
    arguments = ["train", "fast", "--scale", "smoke", "--set", "steps=30", "--out", "run"]
    arguments += ["--set", "distillation=0", "--set", "dimension=64", "--set", "cuts=32"]
    _launch(*TORCHRUN, "--no-python", COMMAND, *arguments, cwd=tmp_path)
    figures = {row.protocol: row for row in read_bundle(tmp_path / "run/bundle").manifest.quality}
    assert figures["tatoeba"].value > 30
