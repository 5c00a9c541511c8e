"""What a line of the log is made of: losses, words and time since the one before."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import cast

import torch
from torch import Tensor

from training.checkpoints import Tree
from training.parallel import mean_of_processes
from training.system import Losses


@dataclass(slots=True)
class Sums:
    """Losses and words since they were last logged.

    They are in the checkpoint, so that a line of the log is the mean of the same steps whether the
    run was broken off in between or not. Of several processes the first one's stand for all then.
    """

    losses: dict[str, Tensor] = field(default_factory=dict)
    times: Counter[str] = field(default_factory=Counter)
    steps: int = 0
    words: int = 0
    since: float = field(default_factory=time.perf_counter)
    processor_since: float = field(default_factory=time.process_time)

    def add(self, losses: Losses, words: int) -> None:
        """Add a step."""
        for name, value in losses.items():
            kept = value.detach()
            self.losses[name] = self.losses[name] + kept if name in self.losses else kept
            self.times[name] += 1
        self.steps += 1
        self.words += words

    def means(self) -> dict[str, float]:
        """Return the mean loss of a step, and of each term over the steps that had it."""
        sums = {name: mean_of_processes(value) for name, value in self.losses.items()}
        means = {name: value / self.times[name] for name, value in sums.items()}
        return {"loss": sum(sums.values()) / self.steps, **means}

    def state_dict(self) -> Tree:
        """Return all of it, the time as what has passed."""
        return {
            "losses": self.losses,
            "times": dict(self.times),
            "counts": [self.steps, self.words],
            "seconds": [
                time.perf_counter() - self.since,
                time.process_time() - self.processor_since,
            ],
        }

    @classmethod
    def from_state(cls, state: Tree, device: torch.device) -> Sums:
        """Go on from what `state_dict` gave, the losses on `device`."""
        steps, words = cast(tuple[int, int], state["counts"])
        seconds, processor_seconds = cast(tuple[float, float], state["seconds"])
        losses = cast(dict[str, Tensor], state["losses"])
        return cls(
            {name: value.to(device) for name, value in losses.items()},
            Counter(cast(dict[str, int], state["times"])),
            steps,
            words,
            time.perf_counter() - seconds,
            time.process_time() - processor_seconds,
        )
