"""The clients of the benchmarks count what they say they count."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from benchmarks.drills.load import THREADS, Load
from benchmarks.overload import offered
from benchmarks.overload.offered import raw_request
from benchmarks.servers.client import closed_loop, measure, open_loop
from benchmarks.serving import embed_body, over_http, running_server
from tests.benchmarks.servers import answering

REQUESTS = [raw_request("POST", "/embed", b"{}")]
SLOW = 0.2  # seconds of an answer, far above what a busy machine takes for a refusal


def every_second_refused(number: int) -> tuple[int, float]:
    return (429, 0.0) if number % 2 else (200, SLOW)


def every_second_broken(number: int) -> tuple[int, float] | None:
    return None if number % 2 else (200, SLOW)


@pytest.mark.parametrize("answer", [every_second_refused, every_second_broken])
def test_what_is_refused_or_broken_is_neither_answered_nor_quick(answer: object) -> None:
    with answering(answer) as port:  # type: ignore[arg-type]
        load = measure(closed_loop(port, REQUESTS, clients=1, seconds=1.0))
    assert load.failed >= 1
    assert min(load.milliseconds) >= 1000 * SLOW
    assert load.per_second <= 1 / SLOW


def test_an_open_loop_leaves_refusals_out_of_its_times_too() -> None:
    with answering(every_second_refused) as port:
        load = measure(open_loop(port, REQUESTS, rate=20, seconds=1.0))
    assert load.failed >= 1
    assert min(load.milliseconds) >= 1000 * SLOW


def test_an_answer_that_is_none_ends_the_benchmark_of_the_server() -> None:
    texts = ["a text"] * 200
    with answering(lambda _: (503, 0.0)) as port, pytest.raises(SystemExit, match="answered 503"):
        over_http(port, texts, 0.2, "/embed", 2, embed_body)


@pytest.mark.e2e
def test_a_server_that_does_not_start_is_told_with_what_it_said(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"bundle\.json"), running_server(tmp_path):
        pass


def test_constant_load_counts_from_when_a_request_was_due() -> None:
    with answering(lambda _: (200, SLOW)) as port, Load(port, rate=10 * THREADS / SLOW) as load:
        time.sleep(1.5)
    # Ten times what the threads can have under way: requests go out later and later.
    assert max(answer.seconds for answer in load.answers) > 3 * SLOW


def test_offered_load_counts_from_when_a_request_was_due() -> None:
    stands_still = 0.5

    async def stopped(port: int) -> offered.Outcomes:
        asyncio.get_running_loop().call_later(0.2, time.sleep, stands_still)
        return await offered.offer(port, REQUESTS, rate=50, seconds=1.0)

    with answering(lambda _: (200, 0.0)) as port:
        outcomes = asyncio.run(stopped(port))
    # Those of the half second in which nothing could be sent waited for its end.
    assert max(outcomes.seconds[200]) > 0.6 * stands_still


def test_requests_without_an_answer_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offered, "PATIENCE_SECONDS", 0.1)
    with answering(lambda _: (200, 2.0)) as port:
        outcomes = asyncio.run(offered.offer(port, REQUESTS, rate=50, seconds=0.3))
    assert outcomes.unanswered >= 1
    assert f"{outcomes.unanswered} not answered" in outcomes.summary()
