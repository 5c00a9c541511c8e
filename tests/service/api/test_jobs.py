from __future__ import annotations

import asyncio
import threading

from service.errors import InputError
from service.jobs.job import Job, Result
from tests.service.api.running import Running, ask_and_leave, assert_problem


async def test_watching_and_cancelling_a_job(running: Running) -> None:
    reached = threading.Event()

    def task(job: Job) -> Result:
        job.progress(1, 2, "half")
        reached.set()
        while True:
            job.check()

    id = running.state.resources.jobs.submit("fit", "topics", task).status.id
    assert reached.wait(10)
    seen = (await running.client.get(f"/jobs/{id}")).json()
    assert (seen["state"], seen["done"], seen["total"], seen["note"]) == ("running", 1, 2, "half")
    assert (await running.client.get("/jobs")).json()["jobs"][0]["id"] == id
    assert (await running.client.delete(f"/jobs/{id}")).status_code == 200
    over = (await running.client.get(f"/jobs/{id}", params={"wait": 10})).json()
    assert over["state"] == "cancelled"
    assert over["finished"] is not None
    await running.client.delete(f"/jobs/{id}")
    assert_problem(await running.client.get(f"/jobs/{id}"), 404, field="id")


async def test_a_failed_job_tells_the_problem(running: Running) -> None:
    def task(job: Job) -> Result:
        raise InputError("No labels.", field="examples")

    id = running.state.resources.jobs.submit("fit", "topics", task).status.id
    over = (await running.client.get(f"/jobs/{id}", params={"wait": 10})).json()
    assert over["state"] == "failed"
    assert over["error"]["type"] == "urn:interlingua:problem:invalid-input"
    assert over["error"]["field"] == "examples"


async def test_a_stop_is_not_held_up_by_who_waits(running: Running) -> None:
    ended = threading.Event()

    def task(job: Job) -> Result:
        assert ended.wait(30)
        return {}

    id = running.state.resources.jobs.submit("fit", "topics", task).status.id
    waiting = asyncio.create_task(running.client.get(f"/jobs/{id}", params={"wait": 600}))
    try:
        await asyncio.sleep(0.1)
        assert not waiting.done()
        running.state.begin_leaving()
        response = await asyncio.wait_for(waiting, 5)
        assert (response.status_code, response.json()["state"]) == (200, "running")
    finally:
        ended.set()


async def test_nobody_is_waited_with_who_is_gone(running: Running) -> None:
    ended = threading.Event()

    def task(job: Job) -> Result:
        assert ended.wait(30)
        return {}

    id = running.state.resources.jobs.submit("fit", "topics", task).status.id
    leave = asyncio.Event()
    leave.set()
    try:
        async with asyncio.timeout(10):
            await ask_and_leave(running, f"/jobs/{id}", query=b"wait=600", leave=leave)
        assert await running.metric("interlingua_cancelled_total") == 1
        seen = (await running.client.get(f"/jobs/{id}")).json()
        assert seen["state"] == "running", "whoever asks next finds it"
    finally:
        ended.set()
