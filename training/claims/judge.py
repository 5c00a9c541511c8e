"""From a claim to its result: train, measure, test, judge."""

from __future__ import annotations

import dataclasses
import math
import statistics
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import service
from training.claims.claim import Claim, Part
from training.claims.quantities import Measured, Quantity, measure_run
from training.claims.trained import Run, train_run
from training.claims.verdict import (
    Finding,
    TwoSided,
    all_of,
    at_least,
    at_most,
    better,
    better_by_fold,
    far_better,
    not_worse,
)
from training.devices import describe_machine
from training.evaluation.significance import LEVEL, paired, welch
from training.store import read_json, write_json

Cells = dict[tuple[str, Quantity], list[Measured]]
"""System and quantity -> what was measured, a seed each."""

_PACKAGES = ("torch", "numpy", "onnxruntime", "scikit-learn", "scipy", "sentencepiece")


def result_file(results: Path, identity: str) -> Path:
    """Return where the result of a claim lies."""
    return results / f"{identity}.json"


def is_stale(claim: Claim, results: Path) -> bool:
    """Return whether `claim` has no result, or one of other parameters, measures or rules."""
    path = result_file(results, claim.id)
    return not path.exists() or not is_current(claim, read_json(path))


def is_current(claim: Claim, result: Mapping[str, Any]) -> bool:
    """Return whether `result` is of the parameters, measures and rules that `claim` has now."""
    # The key says neither at which level it is judged nor which side is claimed to be better. The
    # first results are all of one level and do not name it.
    judged = [
        [(cell["system"], cell["quantity"]) for cell in part["cells"]] for part in result["parts"]
    ]
    due = [[(name, quantity.name) for name, quantity in part.cells] for part in claim.parts]
    same_rules = result.get("level", LEVEL) == claim.level and judged == due
    return bool(result.get("key") == claim.key() and same_rules)


def measure_claim(
    claim: Claim, work: Path, data: Path, say: Callable[[str], None] = lambda _: None
) -> Cells:
    """Return everything that `claim` measures, trained and measured where it was not before."""
    cells: Cells = {cell: [] for cell in claim.cells()}
    for seed in claim.seeds:
        for name, quantity in cells:
            run = claim.systems[name].seeded(seed)
            state = "" if run.is_trained(work) else ", to be trained"
            say(f"{claim.id}, seed {seed}, {name}: {quantity.name}{state}")
            cells[name, quantity].append(measure_run(run, quantity, work, data))
    return cells


def judge(claim: Claim, cells: Cells) -> dict[str, object]:
    """Return the result of `claim` as it is kept: figures, tests, verdict, where it was made."""
    parts = [_judge_part(part, cells, claim.level) for part in claim.parts]
    shown = [
        {
            "system": name,
            "quantity": quantity.name,
            "unit": quantity.unit,
            "values": _rounded([one.value for one in cells[name, quantity]]),
            "command": quantity.command,
        }
        for name, quantity in cells
    ]
    return {
        "id": claim.id,
        "key": claim.key(),
        "verdict": all_of([part["verdict"] for part in parts]),  # type: ignore[misc]
        "seeds": list(claim.seeds),
        "level": claim.level,
        "parts": parts,
        "figures": shown,
        "systems": {
            name: claim.systems[name].seeded(claim.seeds[0]).command
            for name in dict.fromkeys(name for name, _ in cells)
        },
        **provenance(),
    }


def provenance() -> dict[str, object]:
    """Return where and with what a result is made: machine, versions, commit, day."""
    return {
        "machine": describe_machine(),
        "versions": {name: metadata.version(name) for name in _PACKAGES},
        "commit": _commit(),
        "measured": datetime.now(UTC).strftime("%Y-%m-%d"),
    }


def train_all(
    runs: Sequence[Run],
    work: Path,
    data: Path,
    *,
    workers: int,
    say: Callable[[str], None] = lambda _: None,
) -> None:
    """Train those of `runs` that are not trained, `workers` at a time, in their order.

    Raises:
        InputError: A training fails; those beside it come to their end before.
    """

    def train(run: Run) -> None:
        begun = time.perf_counter()
        train_run(run, work, data, sharing=workers)
        say(f"trained {run.recipe}-{run.key} in {time.perf_counter() - begun:,.0f} s")

    missing = list(dict.fromkeys(run for run in runs if not run.is_trained(work)))
    say(f"{len(missing)} of {len(runs)} runs to train")
    with ThreadPoolExecutor(workers) as pool:
        futures = [pool.submit(train, run) for run in missing]
        try:
            for future in futures:
                future.result()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def run_claim(
    claim: Claim,
    *,
    work: Path,
    data: Path,
    results: Path,
    workers: int = 1,
    say: Callable[[str], None] = lambda _: None,
) -> dict[str, object]:
    """Run `claim` from data to verdict and keep the result, whole or not at all.

    Args:
        claim: Which.
        work: Where runs and figures are kept, so that a broken-off claim goes on.
        data: The data folder.
        results: Where the result goes.
        workers: Trainings at a time.
        say: Tells people what comes next.
    """
    train_all(claim.runs(), work, data, workers=workers, say=say)
    result = judge(claim, measure_claim(claim, work, data, say))
    write_json(result_file(results, claim.id), result)
    return result


def _judge_part(part: Part, cells: Cells, level: float) -> dict[str, object]:
    found = [cells[cell] for cell in part.cells]
    finding = _find(part, found, level)
    bound = part.learnt
    learnt = bound is None or all(
        _has_learnt(bound, quantity, cells[system, quantity])
        for system, quantity in part.learnt_cells
    )
    return {
        "says": part.says,
        "relation": part.relation,
        "bound": part.bound,
        "cells": [
            {
                "system": name,
                "quantity": quantity.name,
                "unit": quantity.unit,
                "mean": round(statistics.mean(one.value for one in measured), 3),
                "deviation": round(statistics.stdev([one.value for one in measured]), 3),
            }
            for (name, quantity), measured in zip(part.cells, found, strict=True)
        ],
        "test": {
            name: round(value, 5) if math.isfinite(value) else None
            for name, value in dataclasses.asdict(finding.test).items()
        },
        "learnt": learnt,
        "paired": part.is_paired,
        "verdict": finding.verdict if learnt else "undecided",
    }


def _has_learnt(bound: float, quantity: Quantity, measured: Sequence[Measured]) -> bool:
    mean = statistics.mean(one.value for one in measured)
    return mean > bound if quantity.better == "higher" else mean < bound


def _find(part: Part, measured: Sequence[Sequence[Measured]], level: float) -> Finding:
    higher = part.quantity.better == "higher"
    values = [[one.value for one in side] for side in measured]
    if part.relation == "at least":
        return at_least(values[0], part.bound, level=level)
    if part.relation == "at most":
        return at_most(values[0], part.bound, level=level)
    first, second = values
    compare: TwoSided = paired if part.is_paired else welch
    if part.relation == "far better":
        return far_better(
            first, second, least=part.bound, higher=higher, compare=compare, level=level
        )
    if part.relation == "not worse":
        return not_worse(
            first, second, margin=part.bound, higher=higher, compare=compare, level=level
        )
    if part.relation == "better by fold":
        folds = [[one.by_fold for one in side] for side in measured]
        return better_by_fold(folds[0], folds[1], higher=higher)
    return better(first, second, higher=higher, compare=compare, level=level)


def _rounded(values: Sequence[float]) -> list[float]:
    return [round(value, 3) for value in values]


def _commit() -> str:
    """Return the commit of the source, with a plus where it was changed; empty without git."""
    source = Path(service.__file__).parents[1]
    try:
        said = [
            subprocess.run(  # noqa: S603 - our own command
                ["git", *arguments],  # noqa: S607 - git as the user has it
                cwd=source,
                capture_output=True,
                text=True,
                check=True,
            ).stdout.strip()
            for arguments in (
                ("rev-parse", "--short=12", "HEAD"),
                ("status", "--porcelain", "--untracked-files=no", "--", "training", "service"),
            )
        ]
    except (OSError, subprocess.CalledProcessError):
        return ""
    return said[0] + ("+" if said[1] else "")
