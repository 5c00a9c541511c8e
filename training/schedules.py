"""Learning-rate schedules: a factor by step, told of what development says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from training.data.batches import State


class Schedule(Protocol):
    """A factor on the optimiser's learning rate."""

    def factor(self, step: int) -> float:
        """Return the factor for `step`, counted from 0."""
        ...

    def observe(self, metrics: Mapping[str, float]) -> None:
        """Take note of the figures of a development round."""
        ...

    def state_dict(self) -> State:
        """Return what `observe` has changed."""
        ...

    def load_state_dict(self, state: State) -> None:
        """Go on from where `state_dict` was taken."""
        ...


class _Fixed:
    """What schedules have in common whose course development does not change."""

    __slots__ = ()

    def observe(self, metrics: Mapping[str, float]) -> None:
        """Nothing: the course is fixed."""

    def state_dict(self) -> State:
        """Return nothing: the course is fixed."""
        return {}

    def load_state_dict(self, state: State) -> None:
        """Nothing: the course is fixed."""


@dataclass(frozen=True, slots=True)
class Constant(_Fixed):
    """The same rate all along."""

    def factor(self, step: int) -> float:  # noqa: ARG002
        """Return 1."""
        return 1.0


@dataclass(frozen=True, slots=True)
class InverseSquareRoot(_Fixed):
    """Up from 0 in a straight line, then down with one over the square root of the step.

    Vaswani et al. 2017, eq. 3, with the peak at 1; `inverse_sqrt` in Li 2021 (4.3.1). As the root
    falls ever more slowly, a run may end by bringing the rate down to 0 in a straight line.

    Args:
        warm_up: Steps up to the peak; 4000 in Vaswani et al.
        last: Step at which the rate reaches 0.
        cool_down: Steps of that straight line; 0 leaves it out.
    """

    warm_up: int = 4000
    last: int = 0
    cool_down: int = 0

    def factor(self, step: int) -> float:
        """Return the factor for `step`."""
        done = (step + 1) / self.warm_up
        root = min(done, float(done**-0.5))
        if not self.cool_down:
            return root
        return root * min(1.0, max(0.0, (self.last - step - 0.5) / self.cool_down))


@dataclass(frozen=True, slots=True)
class LinearDecay(_Fixed):
    """Up from 0 over the first part of the steps, then down to 0, both in a straight line.

    Where it is held in between, a run that is to go on for longer takes up its weights from there.

    Args:
        steps: Of the whole run.
        warm_up: The first part, 0 .. 1.
        held: The part between the two.
    """

    steps: int
    warm_up: float = 0.03
    held: float = 0.0

    def factor(self, step: int) -> float:
        """Return the factor for `step`; half a step on, so that neither end is 0."""
        done = (step + 0.5) / self.steps
        if done < self.warm_up:
            return done / self.warm_up
        return min(1.0, (1 - done) / (1 - self.warm_up - self.held))
