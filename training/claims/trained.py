"""Systems that claims need: trained once each, and kept by the hash of their parameters."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import shutil
import statistics
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import service
from service.errors import InputError
from training.locks import alone
from training.metrics import METRICS_FILE, read_metrics
from training.recipe import change, distinguishing, find_recipe


@dataclass(frozen=True, slots=True)
class System:
    """A system of a paper at the ledger's size.

    Attributes:
        recipe: Its recipe.
        assignments: What is changed of the recipe's scale `small`.
        paper: What is changed of its scale `paper`, for those who hold the corpus.
    """

    recipe: str
    assignments: tuple[str, ...]
    paper: tuple[str, ...] = ()

    def seeded(self, seed: int) -> Run:
        """Return the run of this system with that seed."""
        return Run(self.recipe, (*self.assignments, f"seed={seed}"))

    @property
    def paper_command(self) -> str:
        """What trains it at the paper's size."""
        return _command(self.recipe, "paper", self.paper, "DATA")


@dataclass(frozen=True, slots=True)
class Run:
    """A system with its seed."""

    recipe: str
    assignments: tuple[str, ...]

    @property
    def key(self) -> str:
        """Sixteen hex digits that change when any parameter does."""
        return _key(self)

    @property
    def command(self) -> str:
        """What trains it."""
        return _command(self.recipe, "small", self.assignments, "DATA")

    def place(self, work: Path) -> Path:
        """Return its directory below the ledger's."""
        return work / "runs" / f"{self.recipe}-{self.key}"

    def is_trained(self, work: Path) -> bool:
        """Return whether its bundle is there; it is written last, and whole."""
        return (self.place(work) / "bundle" / "bundle.json").exists()


@cache  # one page of the ledger asks for those of all claims, and it is written after each claim
def _key(run: Run) -> str:
    parameters = change(find_recipe(run.recipe).scales["small"], run.assignments)
    described = json.dumps([run.recipe, distinguishing(parameters)], sort_keys=True)
    return hashlib.sha256(described.encode()).hexdigest()[:16]


def train_run(run: Run, work: Path, data: Path, *, sharing: int = 1) -> Path:
    """Return the directory of `run`, trained now where it was not before.

    It is trained in a process of its own by the command that people would type, so that it can be
    stopped, and goes on from its last checkpoint when it is asked for again. Two who ask for the
    same run at a time get the same one.

    Args:
        run: What is trained.
        work: The ledger's directory.
        data: The data folder.
        sharing: How many trainings share the cores.

    Raises:
        InputError: The training fails; the end of what it said is in the message.
    """
    directory = run.place(work)
    with alone(directory):
        if not run.is_trained(work):
            _train(run, directory, data, sharing=sharing)
    return directory


def _train(run: Run, directory: Path, data: Path, *, sharing: int) -> None:
    command = [sys.executable, "-c", "from service.cli import main; main()", "train", run.recipe]
    command += ["--scale", "small", "--no-measure", "--data", str(data), "--out", str(directory)]
    command += ["--corpora", str(directory.parents[1] / "corpora")]
    for assignment in run.assignments:
        command += ["--set", assignment]
    source = str(Path(service.__file__).parents[1])
    said = directory.with_suffix(".log")
    with said.open("w", encoding="utf-8") as log:
        result = subprocess.run(  # noqa: S603 - our own command
            command,
            stdout=log,
            stderr=subprocess.STDOUT,
            check=False,
            env={**os.environ, "PYTHONPATH": source, "LOCAL_WORLD_SIZE": str(sharing)},
        )
    if result.returncode:
        end = said.read_text(encoding="utf-8")[-1000:]
        raise InputError(f"{run.command} ends with {result.returncode}: {end}")
    shutil.rmtree(directory / "cache", ignore_errors=True)  # corpus and tokens: large, and remade
    for checkpoint in directory.glob("*/*.pt"):
        checkpoint.unlink()


def training_speed(directory: Path) -> float:
    """Return the words a second of processor time that a run trained on, all stages together.

    The median over log lines, since those after a development round count that as well. Processor
    time, since the machine may have had other work.

    Args:
        directory: Of the run.
    """
    speeds = [
        row["words_per_processor_second"]
        for path in sorted(directory.glob(f"*/{METRICS_FILE}"))
        for row in read_metrics(path)
        if "words_per_processor_second" in row
    ]
    if not speeds:
        raise InputError(f"{directory} has no log of its speed.")
    return statistics.median(speeds)


def training_minutes(directory: Path) -> float:
    """Return the processor minutes that a run's stages took, those of preparation left out.

    Args:
        directory: Of the run.
    """
    seconds = 0.0
    for path in sorted(directory.glob(f"*/{METRICS_FILE}")):
        rows = [row for row in read_metrics(path) if "words_per_processor_second" in row]
        before = 0.0
        for row in rows:
            seconds += (row["words"] - before) / max(row["words_per_processor_second"], 1e-9)
            before = row["words"]
    return seconds / 60


def bundle_megabytes(directory: Path) -> float:
    """Return the size of a run's bundle."""
    files = (directory / "bundle").iterdir()
    return sum(path.stat().st_size for path in files if path.is_file()) / 1e6


def _command(recipe: str, scale: str, assignments: Sequence[str], data: str) -> str:
    settings = " ".join(f"--set {shlex.quote(assignment)}" for assignment in assignments)
    return f"interlingua train {recipe} --scale {scale} --data {data} {settings}".strip()
