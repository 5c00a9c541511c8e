"""Learning-rate schedules."""

from __future__ import annotations

import pytest

from training.schedules import LinearDecay


def test_up_and_down_in_straight_lines() -> None:
    schedule = LinearDecay(100, warm_up=0.1)
    factors = [schedule.factor(step) for step in range(100)]
    assert factors[:10] == pytest.approx([0.05 + 0.1 * i for i in range(10)])
    assert max(factors) == pytest.approx(1.0, abs=0.06)
    assert factors[10:] == sorted(factors[10:], reverse=True)
    assert 0 < factors[-1] < 0.01
