"""Every system goes on exactly where it was broken off."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.training.short_runs import STEPS, change_phase, losses, short_run
from training.loop import Loop, Phase
from training.recipe import Stage, recipe_names
from training.reproduce import System, list_systems
from training.run import Run

SYSTEMS = list_systems(recipe_names())


class _Broken(Exception):
    """The plug is pulled."""


def _break_off(phase: Phase[Any]) -> Phase[Any]:
    """Have the sixth step fail, with a checkpoint after each."""
    steps = iter(range(STEPS))

    def hook(*_: object) -> None:
        if next(steps) == 5:
            raise _Broken

    phase.system.register_forward_pre_hook(hook)
    options = dataclasses.replace(phase.options, checkpoint_seconds=0.0)
    return dataclasses.replace(phase, options=options)


@pytest.mark.slow
@pytest.mark.parametrize("system", SYSTEMS, ids=lambda s: f"{s.recipe}: {s.name}")
def test_a_system_that_was_broken_off_gives_the_same_losses(system: System, tmp_path: Path) -> None:
    run = short_run(system, tmp_path / "run")
    for stage in run.recipe.stages:
        whole, parts = run.work.stage(stage.name), tmp_path / stage.name
        _run(stage, run, whole)
        with pytest.raises(_Broken):
            _run(change_phase(stage, _break_off), run, parts)
        assert len(losses(parts)) == 5
        _run(stage, run, parts, random=99)  # another process has other random numbers
        assert len(set(losses(whole))) > 1
        assert losses(parts) == losses(whole)


def _run(stage: Stage[Any], run: Run, directory: Path, *, random: int = 0) -> None:
    torch.manual_seed(0)
    phase = stage.build(run.parameters, run.work)
    torch.manual_seed(random)
    Loop(phase, directory, device=run.work.device).run()
