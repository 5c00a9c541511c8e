"""Faults in a running service: what clients are told, what is counted and logged, and the recovery.

Kills, damaged files and full disks of a whole process are tested where they belong:
`tests/service/search/test_faults.py` and `test_kills.py`, `tests/e2e/test_restart.py`.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import time
from functools import partial
from pathlib import Path

import httpx
import pytest

from benchmarks.drills import injected
from service.errors import BundleError
from service.inference.session import Vectors, check_finite
from service.search import database
from service.search.corpora import Corpora
from service.settings import Settings
from service.text.tokenizer import Inputs
from tests.service.api.running import DOCUMENTS, Running, assert_problem, run_app, tiny_settings
from tests.tiny_bundle import SENTENCES

TEXTS = list(SENTENCES)


async def embed(running: Running, texts: list[str] = TEXTS) -> httpx.Response:
    return await running.client.post("/embed", json={"inputs": texts})


async def write(running: Running, number: int) -> httpx.Response:
    document = {"id": f"new-{number}", "text": f"A new cat, number {number}. " * 2000}
    body = {"documents": [document]}
    return await running.client.post("/corpora/library/documents", json=body)


async def ids(running: Running) -> set[str]:
    page = (await running.client.get("/corpora/library/documents")).json()
    return {document["id"] for document in page["documents"]}


@pytest.mark.parametrize("name", ["session_throws", "not_finite", "out_of_memory"])
async def test_a_batch_that_fails_is_computed_in_halves(
    running: Running, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    expected = (await embed(running)).json()
    with injected.INSIDE[name](running.state.resources):
        for _ in range(3):
            response = await embed(running)
            assert response.status_code == 200
            for vector, other in zip(response.json(), expected, strict=True):
                assert vector == pytest.approx(other, abs=1e-5)
    assert "tried in halves" in caplog.text
    assert await running.metric("interlingua_failed_batches_total") >= 1
    assert await running.metric("interlingua_session_recoveries_total") == 0


async def test_a_text_that_fails_alone_fails_its_request_and_no_other(
    running: Running, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    tower = running.state.resources.default_encoder.towers["*"]
    (poison,) = tower.tokenizer.encode(["猫猫猫"], max_tokens=8).tokens

    def run(real: injected.Run, inputs: Inputs) -> Vectors:
        wide = inputs["ids"][:, : len(poison)]
        vectors = real(inputs).copy()
        if wide.shape[1] == len(poison):
            vectors[(wide == poison).all(axis=1)] = float("nan")
        return check_finite(vectors)

    with injected._running(running.state.resources, run):
        problem = assert_problem_of_model(await embed(running, [*TEXTS, "猫猫猫"]))
        assert (await embed(running)).status_code == 200
    assert "not finite" in str(problem["detail"])
    assert "failed" in caplog.text
    assert "猫" not in caplog.text, "texts stay out of the log"
    assert (await embed(running, ["猫猫猫"])).status_code == 200


def assert_problem_of_model(response: httpx.Response) -> dict[str, object]:
    assert response.status_code == 500, response.text
    problem: dict[str, object] = response.json()
    assert str(problem["type"]).endswith(":model-failed")
    return problem


async def test_a_lost_session_is_opened_again(
    running: Running, caplog: pytest.LogCaptureFixture
) -> None:
    with injected.session_lost(running.state.resources):
        assert (await embed(running)).status_code == 200
    assert "is lost" in caplog.text
    assert "runs again" in caplog.text
    count = await running.metric(
        "interlingua_session_recoveries_total", model="tiny", how="reopened"
    )
    assert count == 1
    assert (await running.client.get("/health/ready")).status_code == 200


async def test_a_lost_device_is_replaced_by_the_cpu(
    running: Running, caplog: pytest.LogCaptureFixture
) -> None:
    with injected.device_lost(running.state.resources):
        assert (await embed(running)).status_code == 200
    assert "no CUDA-capable device" in caplog.text
    count = await running.metric(
        "interlingua_session_recoveries_total", model="tiny", how="fallback"
    )
    assert count == 1


async def test_or_another_replica_answers_where_that_is_set(
    tiny_bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = tiny_settings(tiny_bundle, tmp_path, when_device_lost="fail-over")
    async with run_app(settings) as running:
        with injected.device_lost(running.state.resources):
            assert_problem_of_model(await embed(running))
            for path in ("/health/ready", "/health", "/health/live"):
                assert_problem(await running.client.get(path), 503)
            assert await running.metric("interlingua_ready") == 0
        guarded = injected._session(running.state.resources)
        guarded._next_attempt = 0.0
        with injected.session_lost(running.state.resources):
            assert (await embed(running)).status_code == 200, "it came back"
        assert (await running.client.get("/health/live")).status_code == 200
        assert await running.metric("interlingua_ready") == 1


async def test_a_thread_that_was_to_end_goes_on(
    running: Running, caplog: pytest.LogCaptureFixture
) -> None:
    with injected.thread_ended(running.state.resources):
        assert_problem_of_model(await embed(running))
        for _ in range(3):
            assert (await embed(running)).status_code == 200
    assert "it goes on" in caplog.text
    assert await running.metric("interlingua_failed_batches_total") == 1


async def test_a_model_that_became_slow_costs_only_the_time_given(running: Running) -> None:
    with injected.slow_model(running.state.resources):
        response = await running.client.post(
            "/embed", json={"inputs": TEXTS}, headers={"x-request-timeout": "0.05"}
        )
        assert_problem(response, 504)
    assert await running.metric("interlingua_rejected_total", reason="deadline") == 1
    assert (await embed(running)).status_code == 200


@pytest.mark.parametrize("name", ["disk_full", "read_only", "database_locked"])
async def test_a_store_that_refuses_acknowledges_nothing_and_is_searched(
    running: Running, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    await running.fill()
    assert (await write(running, 0)).status_code == 200
    before = await ids(running)
    with injected.INSIDE[name](running.state.resources):
        refused = 0
        for number in range(1, 4):
            response = await write(running, number)
            if response.status_code != 200:
                problem = assert_problem(response, 503)
                assert str(problem["type"]).endswith(":storage")
                assert "retry-after" in response.headers
                refused += 1
        assert refused == 3
        assert await ids(running) == before
        found = await running.client.post("/similar", json={"inputs": "cat", "corpus": "library"})
        assert found.status_code == 200
    assert await running.metric("interlingua_rejected_total", reason="storage") == 3
    assert "library" in caplog.text
    assert (await write(running, 9)).status_code == 200, "no hand was needed"
    assert await ids(running) == before | {"new-9"}


@pytest.mark.parametrize("name", ["clock_forward", "clock_backward"])
async def test_a_clock_that_jumps_loses_nothing(
    settings: Settings, running: Running, name: str
) -> None:
    await running.fill()
    with injected.INSIDE[name](running.state.resources):
        assert (await write(running, 1)).status_code == 200
        assert (await embed(running)).status_code == 200
    assert (await write(running, 2)).status_code == 200
    assert {"new-1", "new-2"} <= await ids(running)
    body = {"ids": ["new-1"], "corpus": "library", "k": 100}
    found = await running.client.post("/similar", json=body)
    assert len(found.json()[0]) == len(DOCUMENTS) + 1


async def test_without_handles_work_goes_on_that_needs_none(running: Running) -> None:
    await running.fill()
    with injected.no_handles(running.state.resources):
        assert (await embed(running)).status_code == 200
    assert (await write(running, 1)).status_code == 200


async def test_files_that_may_not_grow_are_like_a_full_disk(running: Running) -> None:
    await running.fill()
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with injected.no_larger_files(running.state.resources):
        response = await write(running, 1)
        assert_problem(response, 503)
    assert (await write(running, 2)).status_code == 200
    assert "new-2" in await ids(running)


async def test_a_damaged_index_is_built_again_at_the_start(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    async with run_app(settings) as running:
        await running.fill()
    (index,) = settings.data.rglob("index.faiss")
    index.write_bytes(index.read_bytes()[:-40] + b"\0" * 40)
    async with run_app(settings) as running:
        found = await running.client.post(
            "/similar", json={"inputs": "cat", "corpus": "library", "k": 100}
        )
        assert len(found.json()[0]) == len(DOCUMENTS)
        assert await running.metric("interlingua_indexes_unreadable") >= 1
    assert "is damaged" in caplog.text


async def test_a_damaged_database_is_refused_by_name_and_the_rest_is_served(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    async with run_app(settings) as running:
        await running.fill("library")
        await running.fill("other")
    corpora = Corpora(settings.data / "corpora")
    path = corpora.get("library")._store.path
    corpora.close()
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 3])
    async with run_app(settings) as running:
        body = {"inputs": "cat", "k": 3}
        response = await running.client.post("/similar", json=body | {"corpus": "library"})
        assert_problem(response, 503)
        other = await running.client.post("/similar", json=body | {"corpus": "other"})
        assert other.status_code == 200
        assert await running.metric("interlingua_rejected_total", reason="storage") == 1
        assert await running.metric("interlingua_corpora_unreadable") == 1
    assert "library is left out" in caplog.text
    path.write_bytes(whole)
    async with run_app(settings) as running:
        assert len(await ids(running)) == len(DOCUMENTS)


async def test_a_damaged_classifier_is_named_in_the_log_alone(
    running: Running, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    examples = [{"text": text, "label": "xy"[row % 2]} for row, text in enumerate(TEXTS[:4])]
    for _ in range(2):
        body = {"examples": examples}
        await running.client.put("/classifiers/things", json=body, params={"wait": "true"})
    versions = settings.data / "classifiers/things"
    for damaged in ("v1/head.safetensors", "v2/examples.safetensors"):
        (versions / damaged).write_bytes(b"cut")
    activated = await running.client.post("/classifiers/things/versions/1/activate")
    asked: dict[str, object] = {"classifier": "things", "inputs": TEXTS[:1]}
    explained = await running.client.post("/classify", json={**asked, "explain": True})
    for response in (activated, explained):
        problem = assert_problem(response, 500)
        assert problem["type"] == "urn:interlingua:problem:damaged"
        assert str(settings.data) not in response.text
    assert str(versions / "v1/head.safetensors") in caplog.text
    assert str(versions / "v2/examples.safetensors") in caplog.text
    assert (await running.client.post("/classify", json=asked)).status_code == 200


async def test_a_fit_on_a_full_disk_is_refused_and_leaves_what_was_there(
    running: Running, settings: Settings
) -> None:
    # Of so many the file to explain answers with passes what may be written.
    examples = [{"text": f"{row} {TEXTS[0]}" * 8, "label": "xy"[row % 2]} for row in range(40)]
    body = {"examples": examples}
    fit = partial(running.client.put, "/classifiers/things", json=body, params={"wait": "true"})
    assert (await fit()).json()["state"] == "succeeded"
    before = sorted((settings.data / "classifiers").rglob("*"))
    with injected.INSIDE["no_larger_files"](running.state.resources):
        job = (await fit()).json()
    assert job["state"] == "failed"
    assert job["error"]["type"] == "urn:interlingua:problem:storage"
    assert sorted((settings.data / "classifiers").rglob("*")) == before
    assert (await fit()).json()["result"]["version"] == 3


@pytest.mark.parametrize("damage", ["missing", "truncated"])
async def test_a_model_that_cannot_be_trusted_is_refused_before_the_first_request(
    settings: Settings, tiny_bundle: Path, tmp_path: Path, damage: str,
    caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    bundle = tmp_path / "bundle"
    bundle.mkdir()
    for file in tiny_bundle.iterdir():
        (bundle / file.name).write_bytes(file.read_bytes())
    (graph,) = bundle.glob("*.onnx")
    whole = graph.read_bytes()
    graph.unlink() if damage == "missing" else graph.write_bytes(whole[:-100])
    changed = settings.model_copy(update={"model": [bundle]})
    async with run_app(changed) as running:
        assert isinstance(running.state.failure, BundleError)
        for path in ("/health/ready", "/models"):
            assert_problem(await running.client.get(path), 503)
        assert await running.metric("interlingua_ready") == 0
    assert "loading failed" in caplog.text
    graph.write_bytes(whole)
    async with run_app(changed) as running:
        assert (await embed(running)).status_code == 200


async def test_the_log_names_no_bug(running: Running, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    for fault in injected.INSIDE.values():
        if fault is injected.no_larger_files:
            continue
        with fault(running.state.resources):
            await embed(running)
        assert (await embed(running)).status_code == 200, fault.__name__
    assert "this is a bug" not in caplog.text
    assert "Traceback" not in caplog.text


async def test_a_corpus_whose_writes_hang_holds_up_no_other(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.5)
    await running.fill("library")
    await running.fill("other")
    held = database.connect(running.state.settings.data / "corpora/library/documents.sqlite3")
    held.execute("BEGIN IMMEDIATE")
    post, began = running.client.post, time.monotonic()
    hanging = [
        asyncio.create_task(
            post(
                "/corpora/library/documents",
                json={"documents": [{"id": f"{number}", "text": "A new cat."}]},
                headers={"x-request-timeout": "2"},
            )
        )
        for number in range(60)
    ]
    await asyncio.sleep(0.1)
    for request in (
        post("/similar", json={"inputs": "cat", "corpus": "other"}),
        post("/similar", json={"inputs": "cat", "corpus": "library"}),
        post("/corpora/other/documents", json={"documents": DOCUMENTS}),
        running.client.get("/corpora"),
    ):
        assert (await asyncio.wait_for(request, 1)).status_code == 200
    statuses = [response.status_code for response in await asyncio.gather(*hanging)]
    assert set(statuses) == {503, 504}
    assert time.monotonic() - began < 5, "waits do not add up"
    held.close()
    assert (await write(running, 1)).status_code == 200


async def test_a_corpus_whose_writes_hang_can_be_dropped(running: Running) -> None:
    await running.fill()
    held = database.connect(running.state.settings.data / "corpora/library/documents.sqlite3")
    held.execute("BEGIN IMMEDIATE")
    hanging = [asyncio.create_task(write(running, number)) for number in range(8)]
    await asyncio.sleep(0.2)
    dropping = asyncio.create_task(running.client.delete("/corpora/library"))
    async with asyncio.timeout(5):
        while (await running.client.get("/corpora/library")).status_code != 404:
            await asyncio.sleep(0.01)
    assert not any(request.done() for request in hanging)
    held.close()
    assert (await dropping).status_code == 204
    assert {response.status_code for response in await asyncio.gather(*hanging)} <= {404, 503}
