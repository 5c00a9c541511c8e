"""Whether a difference is one: Student's and Welch's t-tests.

Li 2021 uses the one-sample test over six folds (section 3.3) and the paired two-tailed test over
ten (section 4.6), both at p < 0.01. Runs of two systems are independent, so Welch's test compares
them; two measures of the same runs are not, and are paired.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr, stdtrit

from service.errors import InputError


@dataclass(frozen=True, slots=True)
class Test:
    """What a test says of a difference.

    Attributes:
        difference: Mean of the first less that of the second, or less what was expected.
        t: The statistic.
        freedom: Degrees of freedom.
        p: Two-tailed.
        low: Lower end of the interval of the difference, of confidence 1 - level.
        high: Upper end.
    """

    difference: float
    t: float
    freedom: float
    p: float
    low: float
    high: float


LEVEL = 0.05
"""Of an interval, where none is named: it is the 95 % interval."""


def one_sample(values: Sequence[float], expected: float = 0.0, *, level: float = LEVEL) -> Test:
    """Return the test that `values` have the mean `expected`.

    Raises:
        InputError: Fewer than two values.
    """
    _enough(values)
    error = float(np.std(values, ddof=1)) / math.sqrt(len(values))
    return _test(float(np.mean(values)) - expected, error, len(values) - 1, level)


def paired(first: Sequence[float], second: Sequence[float], *, level: float = LEVEL) -> Test:
    """Return the test that pairs of values differ by 0 in the mean.

    Raises:
        InputError: Unequal numbers, or fewer than two.
    """
    if len(first) != len(second):
        raise InputError(f"{len(first)} values cannot be paired with {len(second)}.")
    return one_sample([a - b for a, b in zip(first, second, strict=True)], level=level)


def welch(first: Sequence[float], second: Sequence[float], *, level: float = LEVEL) -> Test:
    """Return the test that two samples, of whatever spread, have the same mean.

    Raises:
        InputError: Fewer than two values in one of them.
    """
    _enough(first)
    _enough(second)
    parts = [float(np.var(values, ddof=1)) / len(values) for values in (first, second)]
    total = sum(parts)
    shares = [
        part**2 / (len(values) - 1) for part, values in zip(parts, (first, second), strict=True)
    ]
    freedom = total**2 / sum(shares) if total > 0 else len(first) + len(second) - 2
    return _test(float(np.mean(first) - np.mean(second)), math.sqrt(total), freedom, level)


def _enough(values: Sequence[float]) -> None:
    if len(values) < 2:
        raise InputError(f"A t-test needs two values or more, not {len(values)}.")


def _test(difference: float, error: float, freedom: float, level: float) -> Test:
    if error == 0.0:
        certain = 1.0 if difference == 0.0 else 0.0
        t = 0.0 if difference == 0.0 else math.copysign(math.inf, difference)
        return Test(difference, t, freedom, certain, difference, difference)
    t = difference / error
    p = 2.0 * float(stdtr(freedom, -abs(t)))
    reach = float(stdtrit(freedom, 1.0 - level / 2.0)) * error
    return Test(difference, t, freedom, p, difference - reach, difference + reach)
