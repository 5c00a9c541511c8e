"""Runs of recipes at scale `smoke`, cut short, without what makes two runs differ on purpose."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from training.loop import Phase
from training.metrics import METRICS_FILE, read_metrics
from training.recipe import Stage, find_recipe
from training.reproduce import System
from training.run import Run, open_run
from training.workspace import Workspace

STEPS = 8


def short_run(system: System, directory: Path, *assignments: str) -> Run:
    """Return a run of `system` whose stages are `STEPS` steps each, logged and developed."""
    run = open_run(
        system.recipe, "smoke", directory, assignments=[*system.assignments, *assignments]
    )
    torch.set_num_threads(1)
    stages = tuple(change_phase(stage, _short) for stage in run.recipe.stages)
    return dataclasses.replace(run, recipe=dataclasses.replace(run.recipe, stages=stages))


def change_phase(stage: Stage[Any], change: Callable[[Phase[Any]], Phase[Any]]) -> Stage[Any]:
    """Return `stage` with `change` made to what it builds."""

    def build(parameters: object, work: Workspace) -> Phase[Any]:
        return change(stage.build(parameters, work))

    return dataclasses.replace(stage, build=build)


def losses(stage: Path) -> list[float]:
    """Return the logged losses in the directory of a stage."""
    return [row["loss"] for row in read_metrics(stage / METRICS_FILE) if "loss" in row]


def _short(phase: Phase[Any]) -> Phase[Any]:
    options = dataclasses.replace(phase.options, steps=STEPS, log_every=1, develop_every=3)
    return dataclasses.replace(phase, options=options)


def without_dropout(recipe: str) -> tuple[str, ...]:
    """Return the assignment that takes dropout away, where the recipe has any."""
    return ("dropout=0",) if hasattr(find_recipe(recipe).scales["smoke"], "dropout") else ()
