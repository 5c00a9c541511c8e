"""The one training loop: every recipe runs through it.

- draw a batch, sum the system's losses, step, until the steps are done or development stops
  getting better
- everything that changes is in the checkpoint, so a run that was broken off gives the same losses
  as one that was not
- several devices through `torchrun`: see `training.parallel`
- what is measured goes to `metrics.jsonl` and TensorBoard, words a second and time left to people
"""

from __future__ import annotations

import signal
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event, current_thread, main_thread
from typing import Generic, Literal, Protocol, cast

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from service.errors import InputError
from training.checkpoints import (
    BEST_FILE,
    LAST_FILE,
    Tree,
    load_checkpoint,
    random_state,
    save_checkpoint,
    set_random_state,
)
from training.data.batches import B_co, BatchSource, State
from training.metrics import MetricsLog
from training.parallel import average_gradients, rank, share_weights
from training.progress import QUIET, Progress
from training.schedules import Schedule
from training.sums import Sums
from training.system import Losses

Precision = Literal["fp32", "bf16"]
"""Of products; weights and sums stay float32."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopOptions:
    """How long and how the loop runs."""

    steps: int
    log_every: int = 100  # steps
    develop_every: int = 0  # steps, and after the last one; 0 never
    checkpoint_seconds: float = 120.0
    watch: str | None = None  # the development figure that decides which weights are best
    better: Literal["higher", "lower"] = "higher"
    patience: int | None = None  # development rounds without a better one before it stops
    clip: float | None = None  # greatest norm of the gradient, that of sparse tables aside
    precision: Precision = "fp32"


class Development(Protocol):
    """Measures a system on text that was set aside."""

    @property
    def measured(self) -> Collection[str]:
        """Names of the figures that there are rows for."""
        ...

    def __call__(self) -> Mapping[str, float]:
        """Return these figures of the system as it is now."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase(Generic[B_co]):
    """What one run of the loop trains, all parts put together.

    Attributes:
        system: A module whose forward takes a batch and returns its losses by name.
        batches: Where batches come from.
        optimisers: Each with its own parameters; the learning rate of each group is its own
            times the schedule's factor.
        schedule: The factor by step.
        develop: Measures on development data; None where there is none.
        options: How long.
    """

    system: nn.Module
    batches: BatchSource[B_co]
    optimisers: tuple[Optimizer, ...]
    schedule: Schedule
    options: LoopOptions
    develop: Development | None = None


@dataclass(slots=True)
class _Position:
    """Where a run is."""

    step: int = 0
    words: int = 0
    seconds: float = 0.0
    best: float | None = None
    worse_rounds: int = 0


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run came to."""

    steps: int
    words: int
    seconds: float
    stopped_early: bool

    @property
    def words_per_second(self) -> float:
        """Tokens that were trained on in a second."""
        return self.words / max(self.seconds, 1e-9)


class Loop(Generic[B_co]):
    """Runs a phase.

    Args:
        phase: What is trained.
        directory: Of the phase: checkpoints and metrics go there, and it goes on from there.
        device: Where it trains; the system is there already.
        progress: Tells people.
        built_on: Whether something was trained upon its weights already: a stop is final then.
    """

    def __init__(
        self,
        phase: Phase[B_co],
        directory: Path,
        *,
        device: torch.device,
        progress: Progress = QUIET,
        built_on: bool = False,
    ) -> None:
        self._phase = phase
        self._directory = directory
        self._device = device
        self._progress = progress
        self._rates = [[group["lr"] for group in o.param_groups] for o in phase.optimisers]
        self._at = _Position()
        self._sums = Sums()
        self._stopped = False
        self._built_on = built_on

    def run(self) -> Outcome:
        """Train to the end, from the last checkpoint where there is one.

        Ctrl-C lets the step end and writes a checkpoint before KeyboardInterrupt is raised. An
        error writes none: half a step is no place to go on from.
        """
        content = load_checkpoint(self._directory / LAST_FILE)
        if content is not None:
            self._restore(content)
            self._go_on()
        share_weights(self._phase.system)
        log = MetricsLog(self._directory, step=self._at.step) if rank() == 0 else None
        try:
            with _interrupts() as interrupted:
                self._steps(log, interrupted)
        finally:
            if log is not None:
                log.close()
        self._save()
        if interrupted.is_set():
            raise KeyboardInterrupt
        return Outcome(self._at.step, self._at.words, self._at.seconds, self._stopped)

    def _go_on(self) -> None:
        """Go on from the checkpoint as far as this command says, where an earlier one stopped."""
        options, at = self._phase.options, self._at
        patient = options.patience is None or at.worse_rounds < options.patience
        self._stopped = self._stopped and (self._built_on or not patient)
        if self._stopped:
            self._progress.note(f"stopped early after step {at.step:,}")
            return
        self._progress.note(f"going on after step {at.step:,}")
        if options.watch is None and at.step < options.steps:
            # An earlier command chose the best weights, this one keeps the last.
            (self._directory / BEST_FILE).unlink(missing_ok=True)
            at.best, at.worse_rounds = None, 0

    def _steps(self, log: MetricsLog | None, interrupted: Event) -> None:
        options, at = self._phase.options, self._at
        saved = time.perf_counter()
        self._phase.system.train()
        while at.step < options.steps and not (self._stopped or interrupted.is_set()):
            begun = time.perf_counter()
            words = self._step()
            at.step += 1
            at.words += words
            at.seconds += time.perf_counter() - begun
            if _is_due(at.step, options.log_every, last=options.steps):
                self._log(log)
            if _is_due(at.step, options.develop_every, last=options.steps):
                self._develop(log)
            if time.perf_counter() - saved > options.checkpoint_seconds:
                self._save()
                saved = time.perf_counter()
            speed = at.words / max(at.seconds, 1e-9)
            self._progress.count(at.step, options.steps, "steps", f", {speed:,.0f} words/s")

    def _step(self) -> int:
        factor = self._phase.schedule.factor(self._at.step)
        for optimiser, rates in zip(self._phase.optimisers, self._rates, strict=True):
            for group, own in zip(optimiser.param_groups, rates, strict=True):
                group["lr"] = own * factor
            optimiser.zero_grad(set_to_none=True)
        batch = self._phase.batches.draw().to(self._device)
        with torch.autocast(
            self._device.type, torch.bfloat16, enabled=self._phase.options.precision == "bf16"
        ):
            losses: Losses = self._phase.system(batch)
        total = torch.stack(list(losses.values())).sum()
        total.backward()  # type: ignore[no-untyped-call]
        average_gradients(self._phase.system.parameters())
        if self._phase.options.clip is not None:
            nn.utils.clip_grad_norm_(_dense(self._phase.system), self._phase.options.clip)
        for optimiser in self._phase.optimisers:
            optimiser.step()
        self._sums.add(losses, batch.words)
        return batch.words

    def _log(self, log: MetricsLog | None) -> None:
        sums = self._sums
        elapsed = max(time.perf_counter() - sums.since, 1e-9)
        figures = {
            **sums.means(),
            "words": float(self._at.words),
            "words_per_second": sums.words / elapsed,
            # Of processor time, which other work on the machine hardly changes.
            "words_per_processor_second": sums.words
            / max(time.process_time() - sums.processor_since, 1e-9),
            "seconds": self._at.seconds,
            "rate": float(self._phase.optimisers[0].param_groups[0]["lr"]),
        }
        if not torch.isfinite(torch.tensor(figures["loss"])):
            raise InputError(
                f"The loss is {figures['loss']} at step {self._at.step}: training has diverged.",
                remedy="Lower the learning rate, among the recipe's parameters, and begin anew "
                "with --fresh.",
            )
        if log is not None:
            log.write("train", self._at.step, figures)
        self._sums = Sums()

    def _develop(self, log: MetricsLog | None) -> None:
        if self._phase.develop is None:
            return
        self._phase.system.eval()
        with torch.inference_mode():
            figures = dict(self._phase.develop())
        self._phase.system.train()
        self._phase.schedule.observe(figures)
        shown = ", ".join(f"{name} {value:.2f}" for name, value in figures.items())
        self._progress.note(f"step {self._at.step:,}: {shown}")
        if log is not None:
            log.write("dev", self._at.step, {**figures, "seconds": self._at.seconds})
        self._judge(figures)

    def _judge(self, figures: Mapping[str, float]) -> None:
        """Keep the weights where they are the best yet; stop where patience is at its end."""
        options, at = self._phase.options, self._at
        if options.watch is None:
            return
        require_watched(options.watch, figures)
        value = figures[options.watch] * (1 if options.better == "higher" else -1)
        if at.best is None or value > at.best:
            at.best, at.worse_rounds = value, 0
            if rank() == 0:
                save_checkpoint(
                    self._directory / BEST_FILE, {"system": self._phase.system.state_dict()}
                )
        else:
            at.worse_rounds += 1
            self._stopped = options.patience is not None and at.worse_rounds >= options.patience

    def _save(self) -> None:
        if rank() != 0:
            return
        at, phase = self._at, self._phase
        content: Tree = {
            "system": phase.system.state_dict(),
            "optimisers": [optimiser.state_dict() for optimiser in phase.optimisers],
            "schedule": phase.schedule.state_dict(),
            "batches": phase.batches.state_dict(),
            "random": random_state(),
            "position": [at.step, at.words, at.seconds, at.best, at.worse_rounds],
            "stopped": self._stopped,
            "sums": self._sums.state_dict(),
        }
        save_checkpoint(self._directory / LAST_FILE, content)

    def _restore(self, content: Tree) -> None:
        phase = self._phase
        phase.system.load_state_dict(cast(dict[str, Tensor], content["system"]))
        states = cast(list[dict[str, object]], content["optimisers"])
        for optimiser, state in zip(phase.optimisers, states, strict=True):
            optimiser.load_state_dict(state)
        phase.schedule.load_state_dict(cast(State, content["schedule"]))
        phase.batches.load_state_dict(cast(State, content["batches"]))
        set_random_state(cast(dict[str, Tensor], content["random"]))
        step, words, seconds, best, worse = cast(
            tuple[int, int, float, float | None, int], content["position"]
        )
        self._at = _Position(step, words, seconds, best, worse)
        self._stopped = bool(content["stopped"])
        if "sums" in content:  # earlier versions kept none
            self._sums = Sums.from_state(cast(Tree, content["sums"]), self._device)


def require_watched(watch: str, measured: Collection[str]) -> None:
    """Refuse to train where the best weights are chosen by a figure that is not measured.

    Args:
        watch: The figure that decides.
        measured: The names of those that development has.

    Raises:
        InputError: It is not among them.
    """
    if watch not in measured:
        raise InputError(
            f"The best weights are chosen by {watch} on held-out rows, and it cannot be measured "
            f"on those that are there; what can is {', '.join(measured) or 'nothing'}.",
            field="held_out_source",
            remedy="Hold out rows that have all languages, --set held_out_source=SOURCE "
            "--set held_out_first=ROW, or train without development, --set develop_every=0.",
        )


def _is_due(step: int, every: int, *, last: int) -> bool:
    """Return whether what is done every so many steps, and after the last, is done after `step`."""
    return every > 0 and (step % every == 0 or step == last)


def _dense(system: nn.Module) -> list[nn.Parameter]:
    """Return the weights whose gradient is not one of single rows."""
    return [w for w in system.parameters() if w.grad is not None and not w.grad.is_sparse]


@contextmanager
def _interrupts() -> Iterator[Event]:
    """Turn Ctrl-C into an event for the time of the block; a second one stops at once."""
    event = Event()
    if current_thread() is not main_thread():
        yield event  # signals are the main thread's
        return

    def note(*_: object) -> None:
        if event.is_set():
            raise KeyboardInterrupt
        event.set()

    before = signal.signal(signal.SIGINT, note)
    try:
        yield event
    finally:
        signal.signal(signal.SIGINT, before)
