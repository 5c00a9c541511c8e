from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from service.inference.encoder import Encoder
from service.inference.engine import Engine
from service.inference.priority import NICENESS, step_back

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="threads have no priority here")


def niceness(thread: int = 0) -> int:
    return os.getpriority(os.PRIO_PROCESS, thread)


def test_only_the_thread_itself_steps_back() -> None:
    before = niceness()
    with ThreadPoolExecutor(1, initializer=step_back) as threads:
        assert threads.submit(niceness).result() == min(19, before + NICENESS)
    assert niceness() == before


async def test_workers_step_back_and_what_is_little_does_not(tiny_encoder: Encoder) -> None:
    engine = Engine(workers=2, batch_tokens=64, queue_tokens=4096)
    try:
        await engine.embed(tiny_encoder, ["cat"] * 40)
        found = [niceness(thread) - niceness() for thread in engine.thread_ids]
    finally:
        engine.close()
    assert sorted(found) == [0, NICENESS, NICENESS]


def test_a_thread_that_may_not_step_back_works_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Sandboxes refuse the system call; a worker that ended there would leave requests waiting."""

    def refuse(*_: int) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "setpriority", refuse)
    step_back()
