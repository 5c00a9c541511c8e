"""From a recipe's name to a measured bundle: stages, export, evaluation."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import torch

from service.bundle.manifest import Recipe as RecipeRecord
from service.bundle.reader import Bundle
from service.errors import InputError, NotFoundError
from service.inference.encoder import Encoder
from training.checkpoints import LAST_FILE
from training.data.folder import DataFolder, open_folder
from training.data.template_tasks import write_template_tasks
from training.data.templates import write_template_folder
from training.devices import describe_machine, pick_device
from training.evaluation.figures import Figure, figures_table
from training.evaluation.protocols import make_protocol
from training.export import export, open_bundle, record_quality
from training.loop import Loop, LoopOptions, Phase, Precision, require_watched
from training.metrics import METRICS_FILE
from training.parallel import first_process_first, rank
from training.parameters import TEMPLATES
from training.preparation import require_held_out
from training.progress import QUIET, Progress
from training.recipe import (
    SCALES,
    Recipe,
    Scale,
    Stage,
    change,
    changes,
    distinguishing,
    find_recipe,
    flatten,
)
from training.shared_stages import shared_place, shared_stage
from training.store import write_json
from training.workspace import (
    SECONDS_FILE,
    Workspace,
    claim,
    delete_run,
    put,
    read_run,
    training_alone,
)


@dataclass(frozen=True, slots=True)
class Run:
    """A recipe at a scale with its parameters, and its directory."""

    recipe: Recipe[Any]
    scale: Scale
    parameters: Any
    work: Workspace
    new: bool = False  # whether this command began it

    @property
    def described(self) -> dict[str, object]:
        """What `run.json` says of it."""
        return _describe(self.recipe, self.scale, self.parameters)

    @property
    def bundle(self) -> Path:
        """Where the bundle is written unless another place is named."""
        return self.work.directory / "bundle"

    def record(self) -> RecipeRecord:
        """Return how the model was made, for its manifest."""
        return RecipeRecord(
            name=self.recipe.name,
            scale=self.scale,
            parameters=flatten(self.parameters),
            seconds=round(_read_seconds(self.work.directory), 1) or None,
            machine=describe_machine(),
        )


def open_run(
    name: str,
    scale: Scale,
    directory: Path,
    *,
    data: Path | None = None,
    assignments: Sequence[str] = (),
    fresh: bool = False,
    corpora: Path | None = None,
    progress: Progress = QUIET,
) -> Run:
    """Return the run of recipe `name` in `directory`, new or to be gone on with.

    Args:
        name: Of the recipe.
        scale: Which of its sizes.
        directory: Of the run.
        data: The data folder; at scale `smoke` sentences made from templates stand in for it.
        assignments: `key=value` changes to the parameters.
        fresh: Delete the run that is there.
        corpora: Where runs of the same text share what they read of it, and stages.
        progress: Tells people.

    Raises:
        NotFoundError: No such recipe.
        InputError: Parameters that cannot be, or no data where it is needed.
        ConflictError: The directory holds another run.
    """
    recipe = find_recipe(name)
    parameters = change(recipe.scales[scale], assignments)
    # The recipe's own choice may be missing from a folder, which is said; what is asked for not.
    held_out = _asked_for(parameters, recipe.scales[scale], "held_out_source")
    if data is None and scale == "smoke":
        opened = cache(lambda: _templates(directory))
        require_held_out(held_out, TEMPLATES["sources"])
    else:
        opened = cache(lambda: open_folder(data))
        if not (directory / "cache" / "corpus").exists() or fresh:
            # Before anything is written, so that a wrong folder leaves nothing behind.
            require_held_out(held_out, opened().sources)
    described = _describe(recipe, scale, parameters)
    with first_process_first():
        new = claim(directory, described, fresh=fresh and rank() == 0)
    work = Workspace(directory, opened, pick_device(), progress, corpora)
    return Run(recipe, scale, parameters, work, new)


def _asked_for(parameters: object, usual: object, name: str) -> str:
    """Return the parameter `name`, a text; nothing where it is as usual."""
    value = str(getattr(parameters, name, ""))
    return "" if value == getattr(usual, name, "") else value


def _describe(recipe: Recipe[Any], scale: Scale, parameters: object) -> dict[str, object]:
    return {"recipe": recipe.name, "scale": scale, "parameters": distinguishing(parameters)}


def reopen_run(directory: Path, *, data: Path | None = None, progress: Progress = QUIET) -> Run:
    """Return the run that `directory` holds, with the parameters it was begun with.

    Raises:
        InputError: It holds none, or one of a recipe that has changed since.
    """
    described = read_run(directory)
    name, scale = str(described.get("recipe")), described.get("scale")
    flat = described.get("parameters")
    recipe = find_recipe(name)
    if scale not in SCALES or not isinstance(flat, dict):
        raise InputError(f"{directory} holds a run that cannot be read.", field="RUN")
    assignments = changes(recipe.scales[scale], flat)
    return open_run(name, scale, directory, data=data, assignments=assignments, progress=progress)


def change_export(run: Run, assignments: Sequence[str]) -> Run:
    """Return `run` with what its export alone reads changed by `key=value` assignments.

    Raises:
        InputError: A parameter that training has read, or no parameter at all.
    """
    parameters = change(run.parameters, assignments)
    named = {assignment.partition("=")[0] for assignment in assignments}
    fixed = sorted(named.difference(run.recipe.exported))
    if fixed:
        free = ", ".join(run.recipe.exported) or "nothing"
        raise InputError(
            f"{fixed[0]} was read in training and cannot be changed after it.",
            field="--set",
            given=fixed[0],
            remedy=f"Of {run.recipe.name} the export alone reads: {free}. "
            "Else train another run with --set.",
        )
    return replace(run, parameters=parameters)


def train(
    run: Run, *, patience: int | None = None, precision: Precision | None = None
) -> Bundle | None:
    """Train what is not trained yet, export it, and return the bundle.

    With several processes the first one exports; the others return None.

    Args:
        run: What is trained.
        patience: Development rounds without a better one before a stage stops; the best weights
            are exported then. None trains all steps.
        precision: Of products; the recipe's where None.

    Raises:
        ConflictError: Another process trains in the run's directory.
    """
    directory = run.work.directory
    first = training_alone(directory, run.described) if rank() == 0 else nullcontext()
    with first, _begun(run), _counted(directory):
        stages = [stage for stage in run.recipe.stages if stage.needed(run.parameters)]
        for place, stage in enumerate(stages):
            # What this command asks for besides is not among what a stage is known by.
            as_described = patience is None and precision is None
            kept = (
                shared_place(run.recipe, stage, run.parameters, run.work) if as_described else None
            )
            with shared_stage(run.work, stage.name, kept):
                torch.manual_seed(getattr(run.parameters, "seed", 0))
                with first_process_first():  # the others find what it has made
                    phase = stage.build(run.parameters, run.work)
                phase = replace(phase, options=_asked(phase.options, patience, precision))
                _require_development(phase)
                run.work.progress.title(f"{stage.name}: {phase.options.steps:,} steps")
                outcome = Loop(
                    phase,
                    run.work.stage(stage.name),
                    device=run.work.device,
                    progress=run.work.progress,
                    built_on=any(_is_begun(run, later) for later in stages[place + 1 :]),
                ).run()
            early = ", stopped early" if outcome.stopped_early else ""
            run.work.progress.note(
                f"{outcome.words:,} words in {outcome.seconds:,.0f} s, "
                f"{outcome.words_per_second:,.0f} a second{early}"
            )
    return write(run, run.bundle) if rank() == 0 else None


@contextmanager
def _begun(run: Run) -> Iterator[None]:
    """Leave nothing of a new run that is refused before its first step: it is to be mended.

    What is wrong may be seen in the text alone, when the run's directory is written.
    """
    try:
        yield
    except (InputError, NotFoundError):
        if run.new and rank() == 0 and not any(run.work.directory.glob(f"*/{METRICS_FILE}")):
            delete_run(run.work.directory)
        raise


def _asked(options: LoopOptions, patience: int | None, precision: Precision | None) -> LoopOptions:
    """Return the options of a stage with what the person at the keyboard asks for."""
    if precision is not None:
        options = replace(options, precision=precision)
    if patience is None:
        return options
    if not options.develop_every:
        raise InputError(
            "There is no round of development that patience could be lost in.",
            field="--patience",
            given=patience,
            remedy="Develop now and then, --set develop_every=STEPS, or leave --patience out.",
        )
    # Recipes that keep their last weights still measure how well translations are found.
    watch = options.watch or "search_error"
    better = options.better if options.watch else "lower"
    return replace(options, patience=patience, watch=watch, better=better)


def _require_development(phase: Phase[Any]) -> None:
    """Refuse what is watched and cannot be measured now, not after hours of training."""
    options = phase.options
    if options.watch is not None and options.develop_every and options.steps:
        require_watched(options.watch, phase.develop.measured if phase.develop else ())


def _is_begun(run: Run, stage: Stage[Any]) -> bool:
    return (run.work.stage(stage.name) / LAST_FILE).exists()


def write(run: Run, directory: Path) -> Bundle:
    """Export the trained model of `run` to `directory`."""
    run.work.progress.title(f"export: {directory}")
    quiet = replace(run.work, progress=QUIET)
    bundle = export(run.recipe.model(run.parameters, quiet), directory, run.record())
    size = sum(entry.bytes for entry in bundle.manifest.files.values())
    run.work.progress.note(f"{size / 1e6:.2f} MB, torch and ONNX Runtime agree")
    return bundle


def measure(
    bundle: Bundle,
    protocols: Sequence[str],
    folder: Callable[[], DataFolder],
    *,
    languages: Sequence[str] | None = None,
    command: str | None,
    progress: Progress = QUIET,
) -> list[Figure]:
    """Measure `bundle` by `protocols`.

    Args:
        bundle: An exported one.
        protocols: Their names.
        folder: Opens the data folder, for those that need it.
        languages: Those to measure; the bundle's where None.
        command: Written into the bundle's manifest with the figures; None leaves it as it is.
        progress: Tells people.
    """
    encoder = Encoder(bundle)
    chosen = [f"languages={','.join(languages)}"] if languages else []
    figures: list[Figure] = []
    for name in protocols:
        progress.title(f"evaluate: {name}")
        figures += make_protocol(name, chosen).measure(encoder, folder)
    if command is not None:
        record_figures(bundle.directory, figures, command=command)
    progress.note(figures_table(figures))
    return figures


def record_figures(place: Path, figures: Sequence[Figure], *, command: str) -> None:
    """Write `figures` into manifest and card of the bundle at `place`.

    Args:
        place: A bundle, or a run that has one.
        figures: What was measured.
        command: That measures them.

    Raises:
        BundleError: There is no bundle of ours at `place`.
    """
    machine = describe_machine()
    record_quality(
        open_bundle(place), tuple(f.measurement(command=command, machine=machine) for f in figures)
    )


def _templates(directory: Path) -> DataFolder:
    root = directory / "cache" / "templates"
    if not root.exists():
        put(root, _write_templates)
    return DataFolder(root)


def _write_templates(root: Path) -> None:
    write_template_folder(root)
    write_template_tasks(root)


@contextmanager
def _counted(directory: Path) -> Iterator[None]:
    """Add the time of the block to the run's, whether it ends well or not."""
    begun = time.perf_counter()
    try:
        yield
    finally:
        seconds = _read_seconds(directory) + time.perf_counter() - begun
        if rank() == 0:
            write_json(directory / SECONDS_FILE, seconds)


def _read_seconds(directory: Path) -> float:
    path = directory / SECONDS_FILE
    return float(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else 0.0
