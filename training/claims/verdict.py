"""When a claim holds: rules on figures of several seeds, fixed before a claim is measured.

    better             the difference has the claimed sign with p < 0.05; the opposite sign with
                       p < 0.05 does not hold
    far better         as `better`; a 95 % interval of the difference that lies below half of the
                       smallest that is quoted of the paper does not hold
    not worse          the 95 % interval of the difference lies above -margin; below it does not
    at least, at most  the 95 % interval of the mean lies on that side of the bound; on the other
                       side it does not
    better by fold     as `better`, over rotations of the labelled text, p < 0.01

Anything else is undecided at this scale. What three seeds left undecided is looked at once more
with two further ones. Two looks give chance two throws, so the second counts with p < 0.0294 and
the interval of that level (Pocock 1977, table 1, two looks). Pocock has it for both looks, which
keeps their error together at 5 %; here the first look has 0.05, and the two together call 5.0 % of
differences that are none real by Welch's test, 6.7 by the paired one (docs/lab-notes.md). A claim
may be tried anew with other settings, or a rule that suits it better, on seeds that no look had and
whose number is chosen before: a first look again.

The difference is that of the means over seeds, by two-tailed t-tests: Welch's between systems,
whose runs are independent; the paired test between two measures of the same runs, and between
systems over the same trained parts, which are not;
the one-sample test for what is compared with a number; for rotations, in the mean over seeds, the
paired test (Li 2021, section 4.6). A claim of several parts holds where all of them hold, and does
not where one of them does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from training.evaluation.significance import LEVEL, Test, one_sample, paired, welch

Verdict = Literal["holds", "does not hold", "undecided"]


class TwoSided(Protocol):
    """A test of the difference of two samples: `welch` or `paired`."""

    def __call__(self, first: Sequence[float], second: Sequence[float], *, level: float) -> Test:
        """Return what it says, with the interval of `level`."""
        ...


SECOND_LOOK_LEVEL = 0.0294
FOLD_LEVEL = 0.01


@dataclass(frozen=True, slots=True)
class Finding:
    """What came of one part of a claim."""

    verdict: Verdict
    test: Test


def better(
    first: Sequence[float],
    second: Sequence[float],
    *,
    higher: bool,
    compare: TwoSided = welch,
    level: float = LEVEL,
) -> Finding:
    """Return whether `first` is better than `second`, a figure a seed each.

    Args:
        first: Of what is claimed to be better.
        second: Of what is claimed to be worse.
        higher: Whether more is better.
        compare: The test; `paired` where both are measures of the same runs.
        level: Of the test.
    """
    return _signed(compare(first, second, level=level), level, higher=higher)


def far_better(
    first: Sequence[float],
    second: Sequence[float],
    *,
    least: float,
    higher: bool,
    compare: TwoSided = welch,
    level: float = LEVEL,
) -> Finding:
    """Return whether `first` is better than `second`, and may be so by `least`."""
    found = better(first, second, higher=higher, compare=compare, level=level)
    high = found.test.high if higher else -found.test.low
    return Finding("does not hold", found.test) if high < least else found


def not_worse(
    first: Sequence[float],
    second: Sequence[float],
    *,
    margin: float,
    higher: bool,
    compare: TwoSided = welch,
    level: float = LEVEL,
) -> Finding:
    """Return whether `first` is worse than `second` by less than `margin`."""
    test = compare(first, second, level=level)
    low, high = (test.low, test.high) if higher else (-test.high, -test.low)
    return Finding(_above(low, high, -margin), test)


def at_least(values: Sequence[float], bound: float, *, level: float = LEVEL) -> Finding:
    """Return whether the mean of `values` lies above `bound`."""
    test = one_sample(values, bound, level=level)
    return Finding(_above(test.low, test.high, 0.0), test)


def at_most(values: Sequence[float], bound: float, *, level: float = LEVEL) -> Finding:
    """Return whether the mean of `values` lies below `bound`."""
    test = one_sample(values, bound, level=level)
    return Finding(_above(-test.high, -test.low, 0.0), test)


def better_by_fold(
    first: Sequence[Sequence[float]], second: Sequence[Sequence[float]], *, higher: bool
) -> Finding:
    """Return whether `first` is better than `second` over the same rotations.

    Args:
        first: Figures by seed and rotation of what is claimed to be better.
        second: Of what is claimed to be worse.
        higher: Whether more is better.
    """
    means = [
        [sum(fold) / len(fold) for fold in zip(*side, strict=True)] for side in (first, second)
    ]
    return _signed(paired(means[0], means[1]), FOLD_LEVEL, higher=higher)


def all_of(verdicts: Sequence[Verdict]) -> Verdict:
    """Return the verdict on a claim of several parts."""
    if "does not hold" in verdicts:
        return "does not hold"
    return "undecided" if "undecided" in verdicts else "holds"


def _signed(test: Test, level: float, *, higher: bool) -> Finding:
    if test.p >= level:
        return Finding("undecided", test)
    return Finding("holds" if (test.difference > 0) == higher else "does not hold", test)


def _above(low: float, high: float, bound: float) -> Verdict:
    if low > bound:
        return "holds"
    return "does not hold" if high < bound else "undecided"
