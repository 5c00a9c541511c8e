from __future__ import annotations

import shutil
import threading
from pathlib import Path

import httpx
import pytest

from service.api import loading
from service.api.state import Phase, Resources, state_of
from service.app import create_app
from service.errors import BundleError, SettingsError
from service.settings import Settings
from service.shipped import DEMO_CORPUS, shipped_heads, shipped_models
from service.telemetry.metrics import Metrics
from tests.service.api.running import assert_problem, run_app, tiny_settings


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
        assert len(demo["languages"]) >= 8
        (hit,) = (await running.client.get("/similar", params={"q": "ice", "k": 1})).json()
        deleted = await running.client.delete(f"/corpora/demo/documents/{hit['id']}")
        assert deleted.status_code == 204
    async with run_app(settings) as running:
        again = (await running.client.get("/corpora/demo")).json()
        assert again["documents"] == demo["documents"] - 1


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
