"""Learning-rate schedules."""

from __future__ import annotations

import pytest

from training.schedules import Constant, InverseSquareRoot, LinearDecay


def test_up_and_down_in_straight_lines() -> None:
    schedule = LinearDecay(100, warm_up=0.1)
    factors = [schedule.factor(step) for step in range(100)]
    assert factors[:10] == pytest.approx([0.05 + 0.1 * i for i in range(10)])
    assert max(factors) == pytest.approx(1.0, abs=0.06)
    assert factors[10:] == sorted(factors[10:], reverse=True)
    assert 0 < factors[-1] < 0.01


def test_up_in_a_straight_line_and_down_with_the_square_root() -> None:
    """Vaswani et al. 2017, eq. 3, divided by its peak."""
    schedule = InverseSquareRoot(400)
    peak = 400**-0.5
    for step in (1, 2, 100, 400, 401, 1600, 10_000):
        expected = min(step**-0.5, step * 400**-1.5) / peak
        assert schedule.factor(step - 1) == pytest.approx(expected)


def test_the_square_root_is_brought_down_to_nothing_over_the_last_steps() -> None:
    bare, cooled = InverseSquareRoot(10), InverseSquareRoot(10, last=100, cool_down=20)
    ratios = [cooled.factor(step) / bare.factor(step) for step in range(100)]
    assert ratios[:80] == pytest.approx([1.0] * 80)
    assert ratios[80:] == pytest.approx([1 - (i + 0.5) / 20 for i in range(20)])


def test_constant_is_constant() -> None:
    assert {Constant().factor(step) for step in (0, 7, 10**6)} == {1.0}


def test_held_between_two_straight_lines() -> None:
    schedule = LinearDecay(100, warm_up=0.1, held=0.7)
    factors = [schedule.factor(step) for step in range(100)]
    assert factors[:10] == pytest.approx([0.05 + 0.1 * i for i in range(10)])
    assert set(factors[10:80]) == {1.0}
    assert factors[80:] == pytest.approx([1 - 0.025 - 0.05 * i for i in range(20)])
