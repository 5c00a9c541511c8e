"""Minimise a smooth function by limited-memory BFGS (Liu & Nocedal 1989; Nocedal & Wright 7.4).

A hundred lines of numpy in place of scipy keep the base install small, and let a fit be watched
and cancelled between two steps. Tests hold it against scikit-learn.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Point: TypeAlias = npt.NDArray[np.float64]
Objective: TypeAlias = Callable[[Point], tuple[float, Point]]
"""Value and gradient at a point."""

_MEMORY = 10
_SUFFICIENT_DECREASE = 1e-4
_HALVINGS = 30


def minimise(
    objective: Objective,
    start: Point,
    *,
    tolerance: float = 1e-5,
    iterations: int = 500,
    check: Callable[[], None] = lambda: None,
) -> Point:
    """Return the point where `objective`, which should be convex, is least.

    Args:
        objective: Gives value and gradient.
        start: Where to begin, [n].
        tolerance: It is found where no component of the gradient is greater.
        iterations: At most so many steps; the best point so far is returned then.
        check: Called before each step; what it raises ends the search.
    """
    point = start.astype(np.float64)
    value, gradient = objective(point)
    steps: deque[tuple[Point, Point, float]] = deque(maxlen=_MEMORY)
    for _ in range(iterations):
        check()
        if np.abs(gradient).max(initial=0.0) <= tolerance:
            break
        direction = _direction(gradient, steps)
        slope = float(gradient @ direction)
        if slope >= 0:  # rounding has spoilt the memory: begin anew with the steepest descent
            steps.clear()
            direction, slope = -gradient, -float(gradient @ gradient)
        size = 1.0 if steps else min(1.0, 1.0 / float(np.abs(gradient).sum()))
        for _ in range(_HALVINGS):
            candidate = point + size * direction
            new_value, new_gradient = objective(candidate)
            if new_value <= value + _SUFFICIENT_DECREASE * size * slope:
                break
            size /= 2
        else:
            break  # no step is better: the function is flat to within rounding
        step, change = candidate - point, new_gradient - gradient
        curvature = float(step @ change)
        if curvature > 1e-12 * float(change @ change):
            steps.append((step, change, curvature))
        point, value, gradient = candidate, new_value, new_gradient
    return point


def _direction(gradient: Point, steps: deque[tuple[Point, Point, float]]) -> Point:
    """Return minus the inverse Hessian, as `steps` show it, times `gradient` (algorithm 7.4)."""
    rest = gradient.copy()
    shares: list[float] = []
    for step, change, curvature in reversed(steps):
        share = float(step @ rest) / curvature
        rest -= share * change
        shares.append(share)
    if steps:
        _, change, curvature = steps[-1]
        rest *= curvature / float(change @ change)
    for (step, change, curvature), share in zip(steps, reversed(shares), strict=True):
        rest += (share - float(change @ rest) / curvature) * step
    return -rest
