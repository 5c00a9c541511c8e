"""What was acknowledged is there after kill -9, and nothing is there by half."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.search.kills import Killer

KILLS = 10


@pytest.mark.slow
def test_no_acknowledged_write_is_lost_when_the_process_is_killed(tmp_path: Path) -> None:
    killer = Killer(tmp_path, seed=5)
    for _ in range(KILLS):
        killer.round()
    assert killer.tally.failures == []
    assert killer.tally.acknowledged >= KILLS // 2
    assert killer.tally.searches >= KILLS // 2
