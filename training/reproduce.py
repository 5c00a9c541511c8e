"""Every system of every recipe, from nothing to answers over HTTP, at scale `smoke`.

    train -> bundle -> `interlingua serve` -> POST /embed == Encoder.encode

As many at a time as there are cores, each on one thread: systems this small gain nothing from a
second one.
"""

from __future__ import annotations

import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import torch

from service.bundle.reader import Bundle
from service.errors import BundleError
from service.hardware import available_cores
from service.inference.encoder import Encoder
from training.data.templates import template_sentences
from training.metrics import METRICS_FILE, read_metrics
from training.progress import Progress
from training.recipe import find_recipe, recipe_names
from training.run import Run, open_run, train
from training.served import served
from training.tables import format_table

TOLERANCE = 1e-5
"""Largest difference between two encodings of a text, as a part of the largest number in them.

Not 0: the server may batch texts otherwise, and sums over padded rows end in other digits.
"""

_SENTENCES = 12


@dataclass(frozen=True, slots=True)
class System:
    """A system of a paper, as it is chosen.

    Attributes:
        recipe: Its recipe's name.
        name: The paper's name for it.
        assignments: What `--set` chooses it with.
    """

    recipe: str
    name: str
    assignments: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reproduced:
    """What came of a system.

    Attributes:
        system: Which.
        steps: Of training, all stages together.
        step_seconds: Mean of a step.
        seconds: Of everything: preparation, training, export, serving.
        first_loss: Of the last stage, at its first log line.
        last_loss: The same at its end.
        trouble: What went wrong; None where nothing did.
    """

    system: System
    steps: int = 0
    step_seconds: float = 0.0
    seconds: float
    first_loss: float = float("nan")
    last_loss: float = float("nan")
    trouble: str | None = None


def list_systems(recipes: Sequence[str]) -> list[System]:
    """Return every system that `recipes` offer.

    Raises:
        NotFoundError: There is no recipe of one of the names.
    """
    return [
        System(name, system, assignments)
        for name in recipes
        for system, assignments in find_recipe(name).variants().items()
    ]


def reproduce_all(
    systems: Sequence[System], directory: Path, *, workers: int | None = None
) -> Iterator[Reproduced]:
    """Yield what comes of each system, in their order.

    Args:
        systems: Which.
        directory: A run of each is written below it.
        workers: How many at a time; as many as cores where None.
    """
    count = min(workers or available_cores(), len(systems))
    places = [directory / f"{number:02}-{s.recipe}" for number, s in enumerate(systems)]
    with ProcessPoolExecutor(count, mp_context=get_context("spawn")) as pool:
        yield from pool.map(reproduce, systems, places)


def run_smoke(
    recipes: Sequence[str], directory: Path | None, workers: int | None
) -> tuple[int, int]:
    """Run every system of `recipes`, of all where there are none, and print what comes of them.

    Args:
        recipes: By name.
        directory: Keeps the runs; None throws them away.
        workers: How many at a time; as many as cores where None.

    Returns:
        How many failed, and how many there are.
    """
    systems = list_systems(recipes or recipe_names())
    progress = Progress(sys.stderr)
    results = []
    with tempfile.TemporaryDirectory() as temporary:
        for result in reproduce_all(systems, directory or Path(temporary), workers=workers):
            results.append(result)
            said = result.trouble or f"served, {result.seconds:.1f} s"
            progress.title(f"{result.system.recipe}, {result.system.name}: {said}")
    sys.stdout.write(reproduced_table(results) + "\n")
    return sum(result.trouble is not None for result in results), len(results)


def reproduce(system: System, directory: Path) -> Reproduced:
    """Train, export and serve `system` in `directory`; what goes wrong is in the answer.

    The traceback of an error is left in `trouble.txt` there.
    """
    begun = time.perf_counter()
    try:
        run = open_run(system.recipe, "smoke", directory, assignments=system.assignments)
        torch.set_num_threads(1)
        bundle = train(run)
        if bundle is None:
            raise BundleError("Nothing was exported; this is a bug.")
        compare(bundle)
        steps, seconds, losses = _logged(run)
    except Exception as error:  # whatever it is, the other systems go on
        directory.mkdir(parents=True, exist_ok=True)
        (directory / "trouble.txt").write_text(traceback.format_exc(), encoding="utf-8")
        trouble = f"{type(error).__name__}: {error}"
        return Reproduced(system=system, seconds=time.perf_counter() - begun, trouble=trouble)
    fell = losses[-1] < losses[0]
    return Reproduced(
        system=system,
        steps=steps,
        step_seconds=seconds / steps,
        seconds=time.perf_counter() - begun,
        first_loss=losses[0],
        last_loss=losses[-1],
        trouble=None if fell else "the loss does not fall",
    )


def compare(bundle: Bundle) -> None:
    """Serve `bundle` and see that it answers with the vectors of `Encoder`, in every language.

    Raises:
        BundleError: It does not start, answers with an error, or its vectors are other ones, not
            finite, or all nothing.
    """
    encoder = Encoder(bundle)
    sentences = template_sentences(seed=1)[:_SENTENCES]
    with served(bundle.directory) as server:
        for language in bundle.manifest.languages:
            # A language that the templates do not speak has to make do with English.
            texts = [s.texts.get(language, s.texts["en"]) for s in sentences]
            texts.append(" ".join(texts))  # one that is longer, so that there are pads
            answered = server.embed(texts, language=language)
            expected = encoder.encode(texts, language=language)
            if answered.shape != expected.shape or not np.isfinite(answered).all():
                raise BundleError(f"{language}: /embed answers no finite {expected.shape}.")
            if not answered.any(axis=1).all():
                raise BundleError(f"{language}: /embed answers with a vector of nothing.")
            difference = float(np.abs(answered - expected).max() / np.abs(expected).max())
            if difference > TOLERANCE:
                raise BundleError(f"{language}: /embed differs from Encoder by {difference:.1e}.")


def reproduced_table(results: Sequence[Reproduced]) -> str:
    """Return what came of each system as a table for people."""
    rows = [
        [
            f"{result.system.recipe}: {result.system.name}",
            f"{result.steps}",
            f"{1000 * result.step_seconds:.1f}",
            f"{result.first_loss:.2f} -> {result.last_loss:.2f}",
            f"{result.seconds:.1f}",
            "served" if result.trouble is None else f"FAILED {result.trouble}",
        ]
        for result in results
    ]
    header = ["system", "steps", "ms a step", "loss", "seconds in all", "verdict"]
    return format_table(header, rows, text=(5,))


def _logged(run: Run) -> tuple[int, float, list[float]]:
    """Return steps and seconds of all stages, and the losses of the last one."""
    steps, seconds, losses = 0, 0.0, [float("nan")]
    for stage in run.recipe.stages:
        logged = read_metrics(run.work.stage(stage.name) / METRICS_FILE)
        rows = [row for row in logged if "loss" in row]
        steps += int(rows[-1]["step"])
        seconds += rows[-1]["seconds"]
        losses = [row["loss"] for row in rows]
    return steps, seconds, losses
