from __future__ import annotations

import numpy as np
import pytest

from service.errors import BackendError
from service.inference.encoder import Encoder
from service.inference.work import Job, Slice


@pytest.fixture
def finished() -> list[Job]:
    return []


@pytest.fixture
def job(tiny_encoder: Encoder, finished: list[Job]) -> Job:
    return Job(
        tiny_encoder.towers["*"],
        [[1], [1, 2, 3], [4]],
        dimension=2,
        when_done=finished.append,
    )


def test_job_is_done_with_its_last_row(job: Job, finished: list[Job]) -> None:
    vectors = np.array([[1, 2], [3, 4]], dtype=np.float32)
    job.deliver([2, 0], vectors, started=job.enqueued + 0.5, seconds=0.1)
    assert finished == []
    job.deliver([1], vectors[:1], started=job.enqueued + 0.2, seconds=0.1)
    assert finished == [job]
    np.testing.assert_array_equal(job.vectors, [[3, 4], [1, 2], [1, 2]])
    assert job.queue_seconds == pytest.approx(0.5)
    assert job.inference_seconds == pytest.approx(0.2)


def test_failure_is_told_once(job: Job, finished: list[Job]) -> None:
    job.fail(BackendError("first"))
    job.fail(BackendError("second"))
    job.deliver([0, 1, 2], np.zeros((3, 2), np.float32), started=0.0, seconds=0.0)
    assert finished == [job]
    assert str(job.error) == "first"


def test_cancelled_job_tells_nobody(job: Job, finished: list[Job]) -> None:
    job.cancel()
    job.fail(BackendError("late"))
    assert job.over
    assert finished == []


def test_slice_costs_its_padded_size(job: Job) -> None:
    assert Slice(job, [0, 1]).cost == 6
    assert Slice(job, [0, 2]).cost == 2
