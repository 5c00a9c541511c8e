"""The queue under random schedules.

A schedule is a list of clients that send jobs and cancel, and of workers that take batches at
random moments. Whatever happens, each slice comes out once or its job is over, what
waits stays within the room, and no client that waits is passed by more than its share.
"""

from __future__ import annotations

import os
import random
from contextlib import suppress
from dataclasses import dataclass, field

import pytest

from service.errors import OverloadedError
from service.inference.encoder import Encoder, Tower
from service.inference.queue import CLIENT_SHARE, LITTLE_TOKENS, WorkQueue, job_slices
from service.inference.slices import slice_by_length
from service.inference.work import Job, Slice

SCHEDULES = int(os.environ.get("INTERLINGUA_TEST_SCHEDULES", "3000"))
"""100,000 take about three minutes."""

CAPACITY = 600
BATCH = 64


@dataclass
class Simulation:
    """One schedule, from its seed."""

    seed: int
    tower: Tower
    jobs: list[Job] = field(default_factory=list)
    sent: list[tuple[Job, int]] = field(default_factory=list)
    taken: list[tuple[Job, int]] = field(default_factory=list)
    finished: list[Job] = field(default_factory=list)
    refused: int = 0
    littles: int = 0

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.queue = WorkQueue(capacity_tokens=CAPACITY, batch_tokens=BATCH)

    def run(self) -> None:
        """Go through some forty random events, then empty the queue."""
        for _ in range(self.random.randint(5, 40)):
            event = self.random.random()
            if event < 0.55:
                self.send()
            elif event < 0.65 and self.jobs:
                self.random.choice(self.jobs).cancel()
            elif self.queue.tokens:
                self.compute()
        self.queue.close()
        while (batch := self.queue.take()) is not None:
            self.deliver(batch)

    def send(self) -> None:
        lengths = [
            self.random.choice((1, 3, 8, 20, 60)) for _ in range(self.random.choice((1, 1, 2, 12)))
        ]
        job = Job(
            self.tower,
            [[1] * length for length in lengths],
            dimension=1,
            when_done=self.finished.append,
        )
        client = self.random.choice(("", "flood", "flood", "trickle"))
        before = self.queue.tokens
        try:
            self.queue.put(job_slices(job, slice_by_length(lengths, budget=BATCH)), client=client)
        except OverloadedError:
            self.refused += 1
            assert self.queue.tokens == before
            return
        self.jobs.append(job)
        self.sent += [(job, row) for row in range(len(lengths))]

    def compute(self) -> None:
        # Only cancelled work may wait, and `take` would block; closing is for the end.
        if any(not job.over for job in self.jobs):
            batch = self.queue.take_little_now() if self.random.random() < 0.5 else []
            if batch:
                self.littles += 1
                assert sum(piece.tokens for piece in batch) <= LITTLE_TOKENS
            else:
                batch = self.queue.take() or []
            self.deliver(batch)

    def deliver(self, batch: list[Slice]) -> None:
        texts = sum(len(piece.rows) for piece in batch)
        assert max(piece.width for piece in batch) * texts <= BATCH or texts == 1
        for piece in batch:
            self.taken += [(piece.job, row) for row in piece.rows]
            vectors = piece.job.vectors[piece.rows]
            piece.job.deliver(piece.rows, vectors, started=0.0, seconds=0.0)


@pytest.mark.slow
def test_nothing_is_lost_doubled_or_answered_twice(tiny_encoder: Encoder) -> None:
    refused = cancelled = littles = 0
    for seed in range(SCHEDULES):
        simulation = Simulation(seed, tiny_encoder.towers["*"])
        simulation.run()
        taken = [(id(job), row) for job, row in simulation.taken]
        assert len(set(taken)) == len(taken), f"schedule {seed}: a text was computed twice"
        for job, row in simulation.sent:
            lost = (id(job), row) not in set(taken) and not job.over
            assert not lost, f"schedule {seed}: a text was lost"
        answered = [id(job) for job in simulation.finished]
        assert len(set(answered)) == len(answered), f"schedule {seed}: answered twice"
        for job in simulation.jobs:
            assert job.over, f"schedule {seed}: a job never ended"
            cancelled += job not in simulation.finished
        assert simulation.queue.tokens == 0
        assert simulation.queue.depth == 0
        refused += simulation.refused
        littles += simulation.littles
    # The schedules reach what they are meant to reach.
    assert min(refused, cancelled, littles) > SCHEDULES // 20


@pytest.mark.parametrize("seed", range(20))
def test_each_of_two_floods_gets_half_however_large_its_requests(
    tiny_encoder: Encoder, seed: int
) -> None:
    chance = random.Random(seed)
    queue = WorkQueue(capacity_tokens=10**6, batch_tokens=BATCH)
    tower = tiny_encoder.towers["*"]
    owner: dict[int, str] = {}

    def send(client: str, texts: int) -> None:
        lengths = [chance.choice((4, 8, 30)) for _ in range(texts)]
        job = Job(tower, [[1] * n for n in lengths], dimension=1, when_done=lambda _: None)
        owner[id(job)] = client
        jobs.append(job)
        queue.put(job_slices(job, slice_by_length(lengths, budget=BATCH)), client=client)

    jobs: list[Job] = []
    for _ in range(300):
        send("many small", 1)
    for _ in range(10):
        send("few large", 100)
    served = {"many small": 0, "few large": 0}
    gaps: list[int] = []
    while queue.tokens and len(gaps) < 60:
        batch = queue.take()
        assert batch is not None
        for piece in batch:
            served[owner[id(piece.job)]] += piece.cost
        gaps.append(abs(served["many small"] - served["few large"]))
    # Start-time fairness: two backlogged flows differ by at most one batch of each (Goyal et al.).
    assert max(gaps) <= 2 * BATCH


def test_a_trickle_waits_for_one_batch_of_a_flood_and_is_never_refused(
    tiny_encoder: Encoder,
) -> None:
    queue = WorkQueue(capacity_tokens=CAPACITY, batch_tokens=BATCH)
    tower = tiny_encoder.towers["*"]

    def job(length: int) -> Job:
        return Job(tower, [[1] * length], dimension=1, when_done=lambda _: None)

    for _ in range(50):
        with suppress(OverloadedError):
            for _ in range(CAPACITY):
                queue.put(job_slices(job(30), [[0]]), client="flood")
        assert queue.tokens <= CLIENT_SHARE * CAPACITY
        own = job(5)
        queue.put(job_slices(own, [[0]]), client="trickle")
        for _ in range(2):
            batch = queue.take()
            assert batch is not None
            if own in [piece.job for piece in batch]:
                break
        else:
            pytest.fail("two batches went before the trickle")


def test_the_room_of_texts_that_are_tokenised_counts_and_is_given_back() -> None:
    queue = WorkQueue(capacity_tokens=100, batch_tokens=50)
    with queue.admitted(70), pytest.raises(OverloadedError), queue.admitted(40):
        pass
    with queue.admitted(90):
        pass
    with (
        queue.admitted(70, client="a"),
        pytest.raises(OverloadedError, match="yours"),
        queue.admitted(20, client="a"),
    ):
        pass
    with queue.admitted(100):
        pass
