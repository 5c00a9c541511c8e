"""The directory of a run: what was made is kept there and not made again.

run.json                 recipe, scale, parameters, data; a run with others is refused
.lock                    held by the process that trains
cache/                   corpus, vocabulary, tokens, teacher's vectors
<stage>/                 checkpoint.pt, best.pt, metrics.jsonl, tensorboard/
bundle/                  the exported model
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar, cast

import torch
from torch import Tensor, nn

from service.durable import STAGED
from service.errors import ConflictError, InputError
from training.checkpoints import BEST_FILE, LAST_FILE, load_checkpoint
from training.data.folder import DataFolder
from training.locks import alone, sole
from training.metrics import METRICS_FILE
from training.progress import QUIET, Progress
from training.store import write_json

RUN_FILE = "run.json"
LOCK_FILE = ".lock"
"""Held by the one process that may train; no other file of a run is never replaced."""

SECONDS_FILE = "seconds.json"
"""How long all of it took so far."""

T = TypeVar("T")
S = TypeVar("S", bound=nn.Module)


@dataclass(frozen=True, slots=True)
class Workspace:
    """A run's directory, its data and its device.

    Attributes:
        directory: Of the run.
        folder: The text; opened when something is read that is not kept yet.
        device: Where it trains.
        progress: Tells people.
        corpora: Where runs of the same text share what they read of it, and stages that they have
            in common; None shares nothing.
    """

    directory: Path
    folder: Callable[[], DataFolder]
    device: torch.device
    progress: Progress = QUIET
    corpora: Path | None = None

    def keep(
        self,
        name: str,
        make: Callable[[], T],
        *,
        save: Callable[[T, Path], None],
        load: Callable[[Path], T],
        within: Callable[[], Path] | None = None,
    ) -> T:
        """Return what is kept under `cache/<name>`; make and keep it where it is not there.

        Args:
            name: Of the file or folder.
            make: Makes it.
            save: Writes it to a path.
            load: Reads it from there.
            within: Names a folder that runs share, where this one has none of its own yet: what is
                not there is made in it, by one of them, and copied from there.
        """
        path = self.cache / name
        if path.exists():
            return load(path)
        if within is None:
            made = make()
            put(path, lambda staging: save(made, staging))
            return made
        shared = within() / name
        with alone(shared):
            if not shared.exists():
                put(shared, lambda staging: save(make(), staging))
        put(path, lambda staging: copy(shared, staging))
        return load(path)

    def keep_bytes(self, name: str, make: Callable[[], bytes]) -> bytes:
        """Return the content of the file `cache/<name>`; make and keep it where it is not there."""
        return self.keep(name, make, save=_write, load=Path.read_bytes)

    @property
    def cache(self) -> Path:
        """Where what was made is kept."""
        return self.directory / "cache"

    def stage(self, name: str) -> Path:
        """Return the directory of a stage."""
        return self.directory / name

    def trained(self, stage: str) -> dict[str, Tensor]:
        """Return the weights of a stage: the best where development chose, else the last.

        Raises:
            InputError: The stage has not been trained.
        """
        directory = self.stage(stage)
        content = load_checkpoint(directory / BEST_FILE) or load_checkpoint(directory / LAST_FILE)
        if content is None:
            raise InputError(
                f"{directory} holds no checkpoint.",
                remedy="Train first: interlingua train RECIPE --out RUN.",
            )
        return cast(dict[str, Tensor], content["system"])

    def fill(self, system: S, stage: str) -> S:
        """Return `system` with the weights of a stage, in evaluation mode.

        Raises:
            InputError: The stage has not been trained.
        """
        system.load_state_dict(self.trained(stage))
        system.eval()
        return system


def put(path: Path, write: Callable[[Path], object]) -> None:
    """Have `write` make `path`, a file or a folder, whole or not at all."""
    staging = path.with_name(path.name + ".part")
    if staging.is_dir():
        shutil.rmtree(staging)
    staging.parent.mkdir(parents=True, exist_ok=True)
    write(staging)
    staging.rename(path)


def _write(content: bytes, path: Path) -> None:
    path.write_bytes(content)


def copy(source: Path, target: Path) -> None:
    """Copy `source`, a file or a folder, to `target`, which is not there."""
    if source.is_dir():
        shutil.copytree(source, target)
    else:
        shutil.copy2(source, target)


def claim(directory: Path, described: Mapping[str, object], *, fresh: bool) -> bool:
    """Make `directory` the one of the run that `described` says, or see that it is already.

    Args:
        directory: Of the run.
        described: Recipe, scale, parameters and data, as they go into `run.json`.
        fresh: Delete the run that is there, and nothing else.

    Returns:
        Whether the run is a new one.

    Raises:
        ConflictError: It holds another run, or another process trains in it now.
        InputError: What it holds is no run.
    """
    if not fresh and (directory / RUN_FILE).exists():
        _refuse_another(directory, described)
        return False
    _refuse_other_files(directory)  # before a lock is put beside them
    with sole(directory / LOCK_FILE):
        # Meanwhile another process may have begun its run here.
        if not fresh and (directory / RUN_FILE).exists():
            _refuse_another(directory, described)
            return False
        if fresh:
            delete_run(directory)
        write_json(directory / RUN_FILE, described)
    return True


@contextmanager
def training_alone(directory: Path, described: Mapping[str, object]) -> Iterator[None]:
    """Be the only process that trains in `directory`, which `claim` made that of this run.

    Raises:
        ConflictError: Another one does, or has begun another run here since.
    """
    with sole(directory / LOCK_FILE):
        _refuse_another(directory, described)
        yield


def _refuse_another(directory: Path, described: Mapping[str, object]) -> None:
    differing = _differences(read_run(directory), described)
    if differing:
        raise ConflictError(
            f"{directory} holds another run; it differs in {', '.join(differing)}.",
            field="--out",
            given=str(directory),
            remedy="Name another directory, or begin anew with --fresh.",
        )


def _refuse_other_files(directory: Path) -> None:
    """Refuse a directory that holds something, and no run."""
    if (directory / RUN_FILE).exists():
        read_run(directory)
    elif directory.exists() and not all(map(_is_a_trace, directory.iterdir())):
        raise ConflictError(
            f"{directory} holds files that are not a run's.",
            field="--out",
            given=str(directory),
            remedy="Name another directory.",
        )


def _is_a_trace(path: Path) -> bool:
    """Return whether `path` is what a run leaves that was not begun: a lock, half a file."""
    return path.name == LOCK_FILE or (path.name.startswith(".") and path.name.endswith(STAGED))


def delete_run(directory: Path) -> None:
    """Delete what a run has made in `directory`; what else lies there stays."""
    stages = [path.parent for path in directory.glob(f"*/{METRICS_FILE}")]
    for path in (directory / "cache", directory / "bundle", *stages):
        shutil.rmtree(path, ignore_errors=True)
    for name in (SECONDS_FILE, RUN_FILE):
        (directory / name).unlink(missing_ok=True)


def read_run(directory: Path) -> dict[str, object]:
    """Return what `run.json` says.

    Raises:
        InputError: The directory is no run's.
    """
    try:
        content = json.loads((directory / RUN_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        content = None
    if not isinstance(content, dict) or "recipe" not in content:
        raise InputError(
            f"{directory} is no run: it has no {RUN_FILE} that names a recipe.",
            field="RUN",
            given=str(directory),
            remedy="Give the directory that `interlingua train RECIPE --out RUN` wrote.",
        )
    return cast(dict[str, object], content)


def _differences(before: Mapping[str, object], now: Mapping[str, object]) -> list[str]:
    same = json.loads(json.dumps(now))
    names = []
    for key in sorted(before.keys() | same.keys()):
        old, new = before.get(key), same.get(key)
        if isinstance(old, dict) and isinstance(new, dict):
            names += [
                f"{key}.{k}" for k in sorted(old.keys() | new.keys()) if old.get(k) != new.get(k)
            ]
        elif old != new:
            names.append(key)
    return names
