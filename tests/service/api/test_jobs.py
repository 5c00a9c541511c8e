from __future__ import annotations

import threading

from service.errors import InputError
from service.jobs.job import Job, Result
from tests.service.api.running import Running, assert_problem


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
