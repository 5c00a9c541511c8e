"""t-tests against scipy's."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from service.errors import InputError
from training.evaluation.significance import one_sample, paired, welch

RANDOM = np.random.default_rng(5)
FIRST = RANDOM.normal(70.0, 1.0, 10).tolist()
SECOND = RANDOM.normal(69.0, 3.0, 10).tolist()


def test_the_paired_test_is_scipys() -> None:
    ours, theirs = paired(FIRST, SECOND), stats.ttest_rel(FIRST, SECOND)
    interval = theirs.confidence_interval()
    assert (ours.t, ours.p) == pytest.approx((theirs.statistic, theirs.pvalue))
    assert (ours.low, ours.high) == pytest.approx((interval.low, interval.high))
    assert ours.difference == pytest.approx(np.mean(FIRST) - np.mean(SECOND))


def test_the_one_sample_test_is_scipys() -> None:
    ours, theirs = one_sample(FIRST, 69.5), stats.ttest_1samp(FIRST, 69.5)
    assert (ours.t, ours.p, ours.freedom) == pytest.approx((theirs.statistic, theirs.pvalue, 9))


def test_welchs_test_is_scipys() -> None:
    ours = welch(FIRST[:3], SECOND[:4])
    theirs = stats.ttest_ind(FIRST[:3], SECOND[:4], equal_var=False)
    assert (ours.t, ours.p, ours.freedom) == pytest.approx(
        (theirs.statistic, theirs.pvalue, theirs.df)
    )
    interval = theirs.confidence_interval()
    assert (ours.low, ours.high) == pytest.approx((interval.low, interval.high))


def test_without_any_spread_it_is_certain() -> None:
    assert welch([1.0, 1.0], [1.0, 1.0]).p == 1.0
    certain = paired([2.0, 3.0], [1.0, 2.0])
    assert (certain.p, certain.t) == (0.0, math.inf)


def test_one_value_is_too_few() -> None:
    with pytest.raises(InputError, match="two values"):
        welch([1.0], [2.0, 3.0])
    with pytest.raises(InputError, match="cannot be paired"):
        paired([1.0, 2.0], [2.0])
