from __future__ import annotations

import errno
import json
import shutil
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from service.api import loading
from service.api.state import Phase, Resources, state_of
from service.app import create_app
from service.errors import BundleError, SettingsError
from service.search.corpus import STORE_FILE
from service.settings import Settings
from service.shipped import DEMO_CORPUS, shipped_heads, shipped_models
from service.telemetry.metrics import Metrics
from tests.service.api.running import DOCUMENTS, assert_problem, run_app, tiny_settings
from tests.tiny_bundle import make_tiny_bundle


async def test_probes_answer_while_models_load_and_the_rest_says_when(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    going_on, real = threading.Event(), loading.load

    def slow(settings: Settings, metrics: Metrics, opening: None) -> Resources:
        assert going_on.wait(10)
        return real(settings, metrics, opening)

    monkeypatch.setattr("service.app.load", slow)
    app = create_app(settings)
    transport = httpx.ASGITransport(app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://localhost") as client,
    ):
        assert (await client.get("/health/live")).status_code == 200
        assert (await client.get("/metrics")).status_code == 200
        assert "interlingua_ready 0.0" in (await client.get("/metrics")).text
        for path in ("/health", "/health/ready", "/health/startup", "/models", "/info", "/corpora"):
            response = await client.get(path)
            assert_problem(response, 503)
            assert int(response.headers["retry-after"]) >= 1
        refused = await client.post("/embed", json={"inputs": "a"})
        assert_problem(refused, 503)
        openai = await client.post("/v1/embeddings", json={"input": "a"})
        assert openai.json()["error"]["type"] == "server_error"
        going_on.set()
        assert await state_of(app).wait_until_settled() is Phase.READY
        for path in ("/health", "/health/ready", "/health/startup"):
            assert (await client.get(path)).status_code == 200
        assert "interlingua_ready 1.0" in (await client.get("/metrics")).text
    assert state_of(app).phase is Phase.DRAINING


async def test_a_bad_bundle_never_gets_ready(tiny_bundle: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(tiny_bundle, broken)
    (broken / "encoder.onnx").write_bytes(b"not what was written")
    async with run_app(tiny_settings(broken, tmp_path / "data")) as running:
        assert running.state.phase is Phase.FAILED
        assert isinstance(running.state.failure, BundleError)
        problem = assert_problem(await running.client.get("/health/ready"), 503)
        assert str(tmp_path) not in str(problem)
        assert (await running.client.get("/health/live")).status_code == 200
        assert_problem(await running.client.post("/embed", json={"inputs": "a"}), 503)


@pytest.mark.parametrize(
    ("error", "refused"),
    [(MemoryError(), "memory"), (RuntimeError("can't start new thread"), "a thread")],
)
async def test_limits_that_are_too_low_are_no_bug(
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    error: Exception,
    refused: str,
) -> None:
    def load(settings: Settings, metrics: Metrics, opening: None) -> Resources:
        raise error

    monkeypatch.setattr("service.app.load", load)
    async with run_app(settings) as running:
        assert f"refused {refused}." in str(running.state.failure)
        assert "ulimit" in str(running.state.failure)
        assert (await running.client.get("/health/ready")).status_code == 503
    assert "bug" not in caplog.text


async def test_two_models_of_one_name_are_refused(tiny_bundle: Path, tmp_path: Path) -> None:
    settings = tiny_settings(tiny_bundle, tmp_path, model=[tiny_bundle, tiny_bundle])
    async with run_app(settings) as running:
        assert isinstance(running.state.failure, SettingsError)


async def test_while_draining_new_requests_go_elsewhere(settings: Settings) -> None:
    async with run_app(settings) as running:
        running.state.begin_draining()
        assert_problem(await running.client.get("/health/ready"), 503)
        assert (await running.client.get("/health/startup")).status_code == 200
        assert_problem(await running.client.post("/embed", json={"inputs": "a"}), 503)


@pytest.mark.skipif(not DEMO_CORPUS.exists(), reason="no demo corpus is there")
async def test_a_fresh_data_directory_gets_the_demo_corpus_once(
    tiny_bundle: Path, tmp_path: Path
) -> None:
    settings = tiny_settings(tiny_bundle, tmp_path, demo_corpus=True)
    async with run_app(settings) as running:
        demo = (await running.client.get("/corpora/demo")).json()
        assert demo["documents"] >= 240 * 8
        assert demo["identity"] == running.state.resources.default_encoder.manifest.identity
        assert len(demo["languages"]) >= 8
        (hit,) = (await running.client.get("/similar", params={"q": "ice", "k": 1})).json()
        deleted = await running.client.delete(f"/corpora/demo/documents/{hit['id']}")
        assert deleted.status_code == 204
    assert [folder.name for folder in (tmp_path / "corpora").iterdir()] == ["demo"]
    async with run_app(settings) as running:
        again = (await running.client.get("/corpora/demo")).json()
        assert again["documents"] == demo["documents"] - 1


@pytest.mark.skipif(not DEMO_CORPUS.exists(), reason="no demo corpus is there")
async def test_other_weights_answer_over_the_demo_corpus_as_in_a_fresh_directory(
    tiny_bundle: Path, tmp_path: Path
) -> None:
    retrained = make_tiny_bundle(tmp_path / "retrained", seed=8)
    question = {"inputs": "Warum verstimmt sich meine Gitarre?", "k": 5}
    answers = {}
    for data, bundle in (
        ("used", tiny_bundle), ("used", retrained), ("fresh", retrained), ("fresh", retrained),
    ):  # fmt: skip
        settings = tiny_settings(bundle, tmp_path / data, demo_corpus=True)
        async with run_app(settings) as running:
            (hits,) = (await running.client.post("/similar", json=question)).json()
            answers[data, bundle] = [(hit["id"], round(hit["score"], 5)) for hit in hits]
    assert answers["used", retrained] == answers["fresh", retrained]
    assert answers["used", retrained] != answers["used", tiny_bundle]


@pytest.mark.skipif(not DEMO_CORPUS.exists(), reason="no demo corpus is there")
async def test_a_demo_that_cannot_be_encoded_anew_is_served_as_it_is(
    tiny_bundle: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with run_app(tiny_settings(tiny_bundle, tmp_path, demo_corpus=True)):
        pass

    def refuse(directory: Path, name: str) -> Path:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("service.search.corpora.begin_folder", refuse)
    retrained = make_tiny_bundle(tmp_path / "retrained", seed=8)
    async with run_app(tiny_settings(retrained, tmp_path, demo_corpus=True)) as running:
        (hit,) = (await running.client.get("/similar", params={"q": "ice", "k": 1})).json()
        assert hit["text"]
    assert "The demo corpus is not encoded anew" in caplog.text
    assert "No space left on device" in caplog.text


async def test_a_corpus_of_other_weights_is_told_of_until_it_is_encoded_anew(
    tiny_bundle: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    retrained = make_tiny_bundle(tmp_path / "retrained", seed=8)
    sibling = make_tiny_bundle(tmp_path / "sibling", name="sibling", seed=9)

    def told() -> list[str]:
        lines = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
        caplog.clear()
        return [line for line in lines if "encoded by" in line]

    async with run_app(tiny_settings(tiny_bundle, tmp_path / "data")) as running:
        await running.client.put("/corpora/library", json={"dimensions": 8})
        await running.client.put("/corpora/empty")
        stored = await running.client.post(
            "/corpora/library/documents", json={"documents": DOCUMENTS}
        )
        assert stored.status_code == 200
        made = (await running.client.get("/corpora/library")).json()["identity"]
    for same in (tiny_bundle, sibling):
        async with run_app(tiny_settings(same, tmp_path / "data")):
            assert told() == []
    async with run_app(tiny_settings(retrained, tmp_path / "data")) as running:
        (line,) = told()
        (model,) = (await running.client.get("/models")).json()["models"]
        assert "'library'" in line
        assert made in line
        assert model["identity"] in line
        path, body = line[line.index("POST ") + 5 :].split(maxsplit=1)
        assert json.loads(body) == {"model": "tiny", "dimensions": 8}
        over = await running.client.post(path, params={"wait": "true"}, json=json.loads(body))
        assert over.json()["state"] == "succeeded"
        described = (await running.client.get("/corpora/library")).json()
        assert (described["identity"], described["dimension"]) == (model["identity"], 8)
    async with run_app(tiny_settings(retrained, tmp_path / "data")):
        assert told() == []


async def test_a_corpus_of_an_earlier_build_is_told_of(
    tiny_bundle: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings = tiny_settings(tiny_bundle, tmp_path)
    async with run_app(settings) as running:
        await running.fill()
    with closing(sqlite3.connect(tmp_path / "corpora" / "library" / STORE_FILE)) as connection:
        connection.executescript(
            "ALTER TABLE corpus DROP COLUMN identity; PRAGMA user_version = 3;"
        )
    async with run_app(settings) as running:
        assert (await running.client.get("/corpora/library")).json()["identity"] is None
    assert "'library' was encoded by an earlier build" in caplog.text
    assert "POST /corpora/library/reencode" in caplog.text


@pytest.mark.skipif(not shipped_models(), reason="no model is shipped yet")
async def test_the_shipped_model_finds_a_sentence_in_other_languages(tmp_path: Path) -> None:
    settings = Settings.model_validate(
        {"model": shipped_models()[:1], "head": shipped_heads(), "data": tmp_path}
    )
    async with run_app(settings) as running:
        assert running.state.failure is None
        response = await running.client.post(
            "/similar", json={"inputs": "Warum verstimmt sich meine Gitarre?", "k": 10}
        )
        (hits,) = response.json()
        assert len({hit["language"] for hit in hits}) >= 3
