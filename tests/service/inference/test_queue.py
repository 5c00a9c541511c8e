from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.errors import OverloadedError, UnavailableError
from service.inference.encoder import Encoder, Tower
from service.inference.fairness import BACKGROUND
from service.inference.queue import (
    CLIENT_SHARE,
    FEW_REQUESTS,
    LITTLE_REQUESTS,
    LITTLE_TOKENS,
    LONGEST_WAIT_SECONDS,
    WorkQueue,
    job_slices,
)
from service.inference.session import Session
from service.inference.slices import slice_by_length
from service.inference.work import Job, Slice


@pytest.fixture(scope="module")
def tower(tiny_encoder: Encoder) -> Tower:
    return tiny_encoder.towers["*"]


def make_job(tower: Tower, lengths: Sequence[int]) -> Job:
    return Job(
        tower,
        [[1] * length for length in lengths],
        dimension=1,
        when_done=lambda _: None,
    )


def put(queue: WorkQueue, job: Job) -> None:
    groups = slice_by_length([len(t) for t in job.tokens], budget=queue.batch_tokens)
    queue.put(job_slices(job, groups))


def drain(queue: WorkQueue) -> list[list[tuple[Job, int]]]:
    """Return all batches as (job, row) lists."""
    queue.close()
    batches = []
    while (batch := queue.take()) is not None:
        batches.append([(piece.job, row) for piece in batch for row in piece.rows])
    return batches


JOBS = st.lists(st.lists(st.integers(0, 60), min_size=1, max_size=12), min_size=1, max_size=12)


@given(jobs=JOBS, budget=st.integers(16, 128))
def test_every_row_comes_out_once_and_batches_keep_the_budget(
    tower: Tower, jobs: list[list[int]], budget: int
) -> None:
    queue = WorkQueue(capacity_tokens=10**6, batch_tokens=budget)
    made = [make_job(tower, lengths) for lengths in jobs]
    for job in made:
        put(queue, job)
    batches = drain(queue)
    rows = [(id(job), row) for batch in batches for job, row in batch]
    assert sorted(rows) == sorted((id(j), r) for j in made for r in range(len(j.tokens)))
    for batch in batches:
        width = max(1, max(len(job.tokens[row]) for job, row in batch))
        assert width * len(batch) <= budget or len(batch) == 1
    assert queue.tokens == 0


def test_a_single_text_waits_for_one_batch_of_a_large_request(tower: Tower) -> None:
    queue = WorkQueue(capacity_tokens=10**6, batch_tokens=100)
    large, single = make_job(tower, [50] * 40), make_job(tower, [3])
    put(queue, large)
    queue.take()
    put(queue, single)
    order = [jobs for batch in drain(queue) for jobs in {job for job, _ in batch}]
    assert order.index(single) <= 1


def test_a_long_text_is_not_starved_by_short_ones(tower: Tower) -> None:
    queue = WorkQueue(capacity_tokens=10**6, batch_tokens=64)
    long = make_job(tower, [60])
    put(queue, make_job(tower, [2] * 32))
    put(queue, long)
    taken = 0
    while True:
        put(queue, make_job(tower, [2] * 32))
        batch = queue.take()
        assert batch is not None
        taken += 1
        if batch[0].job is long:
            break
    assert taken <= 3


def test_only_like_lengths_share_a_batch(tower: Tower) -> None:
    queue = WorkQueue(capacity_tokens=10**6, batch_tokens=1000)
    for length in (5, 100, 6, 110):
        put(queue, make_job(tower, [length]))
    widths = [sorted(len(job.tokens[row]) for job, row in batch) for batch in drain(queue)]
    assert widths == [[5, 6], [100, 110]]


def test_jobs_of_two_models_never_share_a_batch(tower: Tower) -> None:
    other = Tower(tower.tokenizer, tower.session)
    queue = WorkQueue(capacity_tokens=1000, batch_tokens=100)
    put(queue, make_job(tower, [5]))
    put(queue, make_job(other, [5]))
    assert [len(batch) for batch in drain(queue)] == [1, 1]


def test_full_queue_refuses_the_whole_job(tower: Tower) -> None:
    queue = WorkQueue(capacity_tokens=100, batch_tokens=50)
    put(queue, make_job(tower, [40, 40]))
    with pytest.raises(OverloadedError) as caught:
        put(queue, make_job(tower, [10, 20]))
    assert caught.value.retry_after_seconds >= 1
    assert queue.tokens == 80
    put(queue, make_job(tower, [20]))


def test_who_is_refused_is_told_how_long_what_waits_takes(tower: Tower) -> None:
    queue = WorkQueue(capacity_tokens=100, batch_tokens=50)
    put(queue, make_job(tower, [40, 40]))
    for _ in range(200):
        queue.record_speed(tokens=10, seconds=1.0, workers=1)
    with pytest.raises(OverloadedError) as caught:
        put(queue, make_job(tower, [30]))
    assert caught.value.retry_after_seconds == pytest.approx(8.0, rel=0.01)


@pytest.mark.parametrize("client", ["", "a"])
def test_job_beyond_the_capacity_is_let_into_an_empty_queue(tower: Tower, client: str) -> None:
    queue = WorkQueue(capacity_tokens=50, batch_tokens=50)
    queue.put(slices_of(make_job(tower, [30] * 10), queue), client=client)
    assert queue.tokens == 300


def test_cancelled_work_is_dropped(tower: Tower) -> None:
    queue = WorkQueue(capacity_tokens=1000, batch_tokens=50)
    cancelled = make_job(tower, [5])
    live = make_job(tower, [5])
    for job in (cancelled, live):
        put(queue, job)
    cancelled.cancel()
    assert drain(queue) == [[(live, 0)]]
    assert queue.tokens == 0


def test_closed_queue_refuses_but_gives_what_waits(tower: Tower) -> None:
    queue = WorkQueue(capacity_tokens=1000, batch_tokens=50)
    put(queue, make_job(tower, [5]))
    queue.close()
    with pytest.raises(UnavailableError):
        put(queue, make_job(tower, [5]))
    assert queue.take() is not None
    assert queue.take() is None


def test_a_large_slice_does_not_join_a_small_text(tower: Tower) -> None:
    queue = WorkQueue(capacity_tokens=1000, batch_tokens=50)
    small, large = make_job(tower, [10]), make_job(tower, [10, 10, 10, 10])
    put(queue, small)
    put(queue, large)
    batches = drain(queue)
    assert [{job for job, _ in batch} for batch in batches] == [{small}, {large}]


def busy(queue: WorkQueue, tower: Tower) -> None:
    """Have one worker take a batch of the client `flood`, which waits for more."""
    queue.put(slices_of(make_job(tower, [100] * 4), queue), client="flood")
    assert queue.take() is not None


def slices_of(job: Job, queue: WorkQueue) -> list[Slice]:
    return job_slices(job, slice_by_length([len(t) for t in job.tokens], budget=queue.batch_tokens))


def taken_as_little(queue: WorkQueue) -> list[Job]:
    """Return whose slices `take_little` gives at once."""
    found: list[list[Slice] | None] = []
    thread = threading.Thread(target=lambda: found.append(queue.take_little()))
    thread.start()
    thread.join(timeout=0.2)
    queue.close()
    thread.join(timeout=5)
    assert not thread.is_alive()
    return [piece.job for piece in found[0] or ()]


def test_little_does_not_wait_for_the_batches_of_others(tower: Tower) -> None:
    queue = WorkQueue(capacity_tokens=10**6, batch_tokens=100)
    busy(queue, tower)
    trickle = make_job(tower, [LITTLE_TOKENS])
    queue.put(slices_of(trickle, queue), client="trickle")
    assert taken_as_little(queue) == [trickle]


@pytest.mark.parametrize("clients", [["flood"], ["a", "b"]])
def test_what_fills_a_batch_waits_for_a_worker(tower: Tower, clients: list[str]) -> None:
    queue = WorkQueue(capacity_tokens=10**6, batch_tokens=100)
    busy(queue, tower)
    for client in clients:
        queue.put(slices_of(make_job(tower, [LITTLE_TOKENS]), queue), client=client)
    assert taken_as_little(queue) == []


def test_little_is_for_an_idle_worker_where_there_is_one(tower: Tower) -> None:
    queue = WorkQueue(capacity_tokens=10**6, batch_tokens=100)
    job = make_job(tower, [5])
    worker = threading.Thread(target=queue.take)
    worker.start()
    while not queue.idle_workers:
        time.sleep(0.001)
    little = threading.Thread(target=queue.take_little)
    little.start()
    queue.put(slices_of(job, queue), client="trickle")
    worker.join(timeout=5)
    assert not worker.is_alive()
    assert little.is_alive()
    queue.close()
    little.join(timeout=5)
    assert not little.is_alive()


def test_little_is_told_of_what_the_last_idle_worker_leaves(tower: Tower) -> None:
    queue = WorkQueue(capacity_tokens=10**6, batch_tokens=100)
    job = make_job(tower, [5, 40])  # so unlike that they do not share a batch
    found: list[list[Slice] | None] = []
    little = threading.Thread(target=lambda: found.append(queue.take_little()))
    worker = threading.Thread(target=queue.take)
    worker.start()
    while not queue.idle_workers:
        time.sleep(0.001)
    little.start()
    queue.put(job_slices(job, [[0], [1]]))
    worker.join(timeout=5)
    little.join(timeout=5)
    assert not worker.is_alive()
    assert found[0]
    assert [piece.rows for piece in found[0]] == [[1]]


def test_take_waits_for_work(tower: Tower) -> None:
    queue = WorkQueue(capacity_tokens=1000, batch_tokens=50)
    taken: list[object] = []
    thread = threading.Thread(target=lambda: taken.append(queue.take()))
    thread.start()
    put(queue, make_job(tower, [5]))
    thread.join(timeout=5)
    assert len(taken) == 1


def test_expected_wait_follows_the_measured_speed(tower: Tower) -> None:
    queue = WorkQueue(capacity_tokens=10**6, batch_tokens=1000)
    put(queue, make_job(tower, [100] * 10))
    for _ in range(100):
        queue.record_speed(tokens=100, seconds=0.2, workers=2)
    assert queue.expected_wait_seconds() == pytest.approx(1.0, rel=0.01)


def test_the_room_is_what_is_computed_in_time_and_at_least_some_batches() -> None:
    queue = WorkQueue(capacity_tokens=100_000, batch_tokens=100, wait_seconds=0.5)
    queue.record_speed(1_000_000, 1.0, workers=1)
    fast = queue.room_tokens
    assert 3200 < fast < 100_000
    for _ in range(200):
        queue.record_speed(10, 1.0, workers=1)
    assert queue.room_tokens == 3200, "thirty-two batches, though they take longer"
    for _ in range(200):
        queue.record_speed(10**9, 1.0, workers=1)
    assert queue.room_tokens == 100_000


def test_large_requests_find_the_queue_full_before_small_ones_do() -> None:
    queue = WorkQueue(capacity_tokens=100, batch_tokens=10)
    queue.check_not_crowded()
    with queue.admitted(61, client="a"):
        queue.check_not_crowded(client="b")
        with pytest.raises(OverloadedError, match="yours"):
            queue.check_not_crowded(client="a")
        with queue.admitted(15, client="b"):
            for client in ("", "a", "b"):
                with pytest.raises(OverloadedError):
                    queue.check_not_crowded(client=client)
            with queue.admitted(10, client="b"):
                pass
    queue.check_not_crowded(client="a")


def test_a_few_requests_are_let_in_however_large() -> None:
    queue = WorkQueue(capacity_tokens=1_000_000, batch_tokens=10, wait_seconds=0.001)
    room = queue.room_tokens
    with ExitStack() as stack:
        for _ in range(FEW_REQUESTS):
            queue.check_not_crowded()
            stack.enter_context(queue.entered())
            stack.enter_context(queue.admitted(10 * room))
        stack.enter_context(queue.entered())
        with pytest.raises(OverloadedError), queue.admitted(10 * room):
            pass
        with pytest.raises(OverloadedError):
            queue.check_not_crowded()
        with queue.admitted(room // (FEW_REQUESTS + 1)):
            pass  # if all were as small as this one, they would fit


def test_a_few_requests_of_one_key_leave_others_a_way_in() -> None:
    queue = WorkQueue(capacity_tokens=1_000_000, batch_tokens=10, wait_seconds=0.001)
    large = 10 * queue.room_tokens
    own = int(CLIENT_SHARE * FEW_REQUESTS)
    with ExitStack() as stack:
        for _ in range(own):
            stack.enter_context(queue.entered("a"))
            stack.enter_context(queue.admitted(large, client="a"))
        with queue.entered("a"), pytest.raises(OverloadedError), queue.admitted(large, client="a"):
            pass
        with queue.entered("b"), queue.admitted(large, client="b"):
            pass


def test_a_few_requests_keep_to_the_capacity() -> None:
    queue = WorkQueue(capacity_tokens=10_000, batch_tokens=10, wait_seconds=0.001)
    with queue.entered(), queue.admitted(6_000), queue.entered():
        with pytest.raises(OverloadedError), queue.admitted(4_001):
            pass
        with queue.admitted(4_000):
            pass


def test_background_work_does_not_count_among_the_few() -> None:
    queue = WorkQueue(capacity_tokens=1_000_000, batch_tokens=10, wait_seconds=0.001)
    large = 10 * queue.room_tokens
    with ExitStack() as stack:
        for _ in range(FEW_REQUESTS):
            stack.enter_context(queue.entered(BACKGROUND))
        stack.enter_context(queue.admitted(large, client=BACKGROUND))
        with queue.entered(), queue.admitted(large):
            pass


def test_the_least_room_is_of_the_batches_that_the_session_takes(tower: Tower) -> None:
    @dataclass
    class Small:
        batch_tokens: int = 10
        pads: bool = True

    queue = WorkQueue(capacity_tokens=10**6, batch_tokens=100, wait_seconds=0.0)
    assert queue.room_tokens == 3200
    put(queue, make_job(Tower(tower.tokenizer, cast(Session, Small())), [5]))
    queue.take()
    assert queue.room_tokens == 320


@pytest.mark.parametrize(("part", "is_let_in"), [(0.9, True), (1.1, False)])
def test_nothing_is_let_in_that_would_wait_for_long(part: float, is_let_in: bool) -> None:
    queue = WorkQueue(capacity_tokens=1_000_000, batch_tokens=10, wait_seconds=0.001)
    for _ in range(200):
        queue.record_speed(100, 1.0, workers=1)
    with queue.entered(), queue.admitted(int(part * LONGEST_WAIT_SECONDS * 100)), queue.entered():
        if is_let_in:
            with queue.admitted(5):
                pass
        else:
            with pytest.raises(OverloadedError), queue.admitted(5):
                pass


def test_who_sends_many_at_a_time_has_no_way_past_the_batches(tower: Tower) -> None:
    queue = WorkQueue(capacity_tokens=10**6, batch_tokens=100)
    with ExitStack() as stack:
        for count in range(LITTLE_REQUESTS + 1):
            stack.enter_context(queue.entered())
            put(queue, make_job(tower, [5]))
            assert bool(queue.take_little_now()) == (count < LITTLE_REQUESTS)
