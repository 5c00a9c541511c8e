from __future__ import annotations

import pytest

from service.errors import RateLimitError
from service.security.grants import Grant
from service.security.rates import Rates


def allowed(rates: Rates, grant: Grant, times: int) -> int:
    count = 0
    for _ in range(times):
        try:
            rates.spend(grant)
        except RateLimitError:
            continue
        count += 1
    return count


def test_a_second_holds_the_rate_and_others_are_not_touched() -> None:
    now = 0.0
    rates = Rates(clock=lambda: now)
    slow, fast, free = Grant("a", rate=5), Grant("b", rate=50), Grant("c")
    assert allowed(rates, slow, 20) == 5
    assert allowed(rates, fast, 20) == 20
    assert allowed(rates, free, 1000) == 1000
    now = 0.4
    assert allowed(rates, slow, 20) == 2
    now = 100.0
    assert allowed(rates, slow, 20) == 5, "what is not used is not saved up"


def test_less_than_one_a_second_says_how_long_to_wait() -> None:
    now = 0.0
    rates = Rates(clock=lambda: now)
    grant = Grant("a", rate=0.1)
    rates.spend(grant)
    now = 4.0
    with pytest.raises(RateLimitError) as caught:
        rates.spend(grant)
    assert caught.value.retry_after_seconds == pytest.approx(6.0)
    now = 10.0
    rates.spend(grant)
