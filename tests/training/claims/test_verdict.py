"""Verdicts: each rule on figures whose answer is known."""

from __future__ import annotations

import pytest
from scipy import stats

from tests.training.claims.made_claim import made_claim
from training.claims.claim import FIVE_SEEDS, SEEDS
from training.claims.judge import judge
from training.claims.ledger import CLAIMS
from training.claims.quantities import Measured
from training.claims.verdict import (
    SECOND_LOOK_LEVEL,
    all_of,
    at_least,
    at_most,
    better,
    better_by_fold,
    far_better,
    not_worse,
)
from training.evaluation.significance import LEVEL, paired

HIGH, LOW, WIDE = [80.0, 81.0, 82.0], [70.0, 71.0, 72.0], [60.0, 75.0, 90.0]


def test_better_needs_the_sign_and_a_small_p() -> None:
    assert better(HIGH, LOW, higher=True).verdict == "holds"
    assert better(HIGH, LOW, higher=False).verdict == "does not hold"
    assert better(WIDE, LOW, higher=True).verdict == "undecided"
    finding = better(HIGH, LOW, higher=True)
    expected = stats.ttest_ind(HIGH, LOW, equal_var=False)
    assert finding.test.p == pytest.approx(expected.pvalue)


@pytest.mark.parametrize(
    ("first", "second", "least", "higher", "verdict"),
    [
        (HIGH, LOW, 10.0, True, "holds"),
        (HIGH, LOW, 15.0, True, "does not hold"),  # better, but never by so much
        (LOW, HIGH, 10.0, False, "holds"),
        (WIDE, LOW, 10.0, True, "undecided"),
        (LOW, LOW, 5.0, True, "does not hold"),
    ],
)
def test_far_better_may_not_be_a_little(
    first: list[float], second: list[float], least: float, higher: bool, verdict: str
) -> None:
    assert far_better(first, second, least=least, higher=higher).verdict == verdict


@pytest.mark.parametrize(
    ("margin", "higher", "verdict"),
    [
        (13.0, True, "holds"),
        (10.0, True, "undecided"),
        (5.0, True, "does not hold"),
        (0.0, False, "holds"),  # less is better, and there is less of it
    ],
)
def test_not_worse_by_more_than_the_margin(margin: float, higher: bool, verdict: str) -> None:
    assert not_worse(LOW, HIGH, margin=margin, higher=higher).verdict == verdict


def test_bounds() -> None:
    assert at_least(HIGH, 78).verdict == at_most(HIGH, 84).verdict == "holds"
    assert at_least(HIGH, 84).verdict == at_most(HIGH, 78).verdict == "does not hold"
    assert at_least(HIGH, 81).verdict == at_most(HIGH, 81).verdict == "undecided"


def test_measures_of_the_same_runs_are_compared_run_by_run() -> None:
    # The runs are far apart, but each is better by one measure than by the other.
    second = [60.0, 75.0, 90.0]
    first = [61.0, 76.1, 90.9]
    assert better(first, second, higher=True).verdict == "undecided"
    finding = better(first, second, higher=True, compare=paired)
    assert finding.verdict == "holds"
    assert finding.test.p == pytest.approx(stats.ttest_rel(first, second).pvalue)
    assert not_worse(second, first, margin=2.0, higher=True).verdict == "undecided"
    assert not_worse(second, first, margin=2.0, higher=True, compare=paired).verdict == "holds"
    assert far_better(first, second, least=2.0, higher=True).verdict == "undecided"
    nearly = far_better(first, second, least=2.0, higher=True, compare=paired)
    assert nearly.verdict == "does not hold"  # a difference of 2 is excluded


def test_a_second_look_is_stricter() -> None:
    first, second = [31.2, 36.1, 38.5, 34.0, 37.9], [22.1, 33.0, 31.4, 26.5, 32.6]
    once = better(first, second, higher=True)
    again = better(first, second, higher=True, level=SECOND_LOOK_LEVEL)
    assert (once.verdict, again.verdict) == ("holds", "undecided")
    expected = stats.ttest_ind(first, second, equal_var=False)
    assert once.test.p == again.test.p == pytest.approx(expected.pvalue)
    for found, level in ((once, LEVEL), (again, SECOND_LOOK_LEVEL)):
        interval = expected.confidence_interval(1 - level)
        assert (found.test.low, found.test.high) == pytest.approx((interval.low, interval.high))
    assert not_worse(first, second, margin=0.0, higher=True).verdict == "holds"
    strict = not_worse(first, second, margin=0.0, higher=True, level=SECOND_LOOK_LEVEL)
    assert strict.verdict == "undecided"


def test_a_second_look_at_a_bound_is_stricter() -> None:
    values = [1.0, 2.0, 3.0, 4.0, 5.0]
    lows = [
        float(stats.ttest_1samp(values, 0).confidence_interval(1 - level).low)
        for level in (LEVEL, SECOND_LOOK_LEVEL)
    ]
    reach = 3.0 - sum(lows) / 2  # beyond the interval of the first look, within that of the second
    for rule, bound in ((at_least, 3.0 - reach), (at_most, 3.0 + reach)):
        assert rule(values, bound).verdict == "holds"
        assert rule(values, bound, level=SECOND_LOOK_LEVEL).verdict == "undecided"


def test_a_claim_is_judged_by_how_often_it_is_looked_at() -> None:
    long, short = [22.1, 33.0, 31.4, 26.5, 32.6], [31.2, 36.1, 38.5, 34.0, 37.9]
    verdicts = {}
    for looks in (1, 2):
        claim = made_claim(seeds=FIVE_SEEDS, looks=looks)
        cells = dict(zip(claim.cells(), (long, short), strict=True))
        found = judge(claim, {cell: list(map(Measured, cells[cell])) for cell in cells})
        verdicts[looks] = found["verdict"]
    assert verdicts == {1: "holds", 2: "undecided"}  # p = 0.039


def test_more_than_three_seeds_are_a_second_look_or_a_trial_of_their_own() -> None:
    for claim in CLAIMS:
        if claim.looks == 1 and claim.seeds != SEEDS:
            assert not set(claim.seeds) & set(FIVE_SEEDS), claim.id
        if claim.looks == 2:
            assert len(claim.seeds) == len(FIVE_SEEDS), claim.id


def test_the_second_looks_level_is_that_of_two_looks_with_an_error_of_5_percent() -> None:
    """Pocock 1977: at half of the observations and at all of them, normal, in both the same."""
    bound = stats.norm.isf(SECOND_LOOK_LEVEL / 2)
    looks = stats.multivariate_normal(cov=[[1.0, 0.5**0.5], [0.5**0.5, 1.0]])
    within = looks.cdf([bound, bound], lower_limit=[-bound, -bound])
    assert 1 - within == pytest.approx(0.05, abs=2e-4)


def test_folds_are_paired_in_the_mean_over_seeds() -> None:
    second = [[70.0, 60.0, 50.0, 40.0], [72.0, 62.0, 52.0, 42.0]]
    first = [[v + d for v, d in zip(row, (2, 2, 2.2, 1.9), strict=True)] for row in second]
    finding = better_by_fold(first, second, higher=True)
    means = [[sum(fold) / 2 for fold in zip(*side, strict=True)] for side in (first, second)]
    assert finding.test.p == pytest.approx(stats.ttest_rel(means[0], means[1]).pvalue)
    assert finding.verdict == "holds"
    assert better_by_fold(second, first, higher=True).verdict == "does not hold"
    assert better_by_fold([[1.0, 3.0]], [[2.0, 1.0]], higher=True).verdict == "undecided"


def test_a_claim_holds_where_all_its_parts_do() -> None:
    assert all_of(["holds", "holds"]) == "holds"
    assert all_of(["holds", "undecided"]) == "undecided"
    assert all_of(["undecided", "does not hold"]) == "does not hold"
