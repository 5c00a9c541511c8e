"""The same routes over Milvus' embedded twin."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from service.api.loading import load
from service.errors import SettingsError
from service.settings import Settings
from service.telemetry.metrics import Metrics
from tests.service.api.running import DOCUMENTS, assert_problem, run_app, tiny_settings
from tests.tiny_bundle import make_tiny_bundle


def on_engine(tmp_path: Path) -> Settings:
    bundle = make_tiny_bundle(tmp_path / "tiny")
    return tiny_settings(bundle, tmp_path / "data", vector_engine=str(tmp_path / "engine.db"))


# The client's own: unclosed channels and deprecations inside of it and of what it imports.
@pytest.mark.filterwarnings("ignore")
async def test_clients_see_no_difference(tmp_path: Path) -> None:
    pytest.importorskip("milvus_lite")
    pytest.importorskip("pymilvus")
    settings = on_engine(tmp_path)
    async with run_app(settings) as running:
        await running.fill("library")
        query = {
            "corpus": "library",
            "inputs": "The cat sleeps on the warm windowsill.",
            "k": 2,
            "filter": {"topic": "animals"},
        }
        hits = (await running.client.post("/similar", json=query)).json()
        assert "cat-en" in str(hits)
        assert "bread" not in str(hits)
        deleted = await running.client.request(
            "DELETE", "/corpora/library/documents", json={"ids": ["cat-en", "nobody"]}
        )
        assert deleted.json()["deleted"] == 1
        assert_problem(await running.client.put("/corpora/l", json={"passages": {}}), 422)
    async with run_app(settings) as running:  # after a restart
        corpus = (await running.client.get("/corpora/library")).json()
        assert corpus["documents"] == len(DOCUMENTS) - 1
        assert corpus["languages"] == {"en": 1, "de": 2, "ja": 1}


@pytest.mark.filterwarnings("ignore")
async def test_classifiers_are_given_to_every_replica_and_fitted_by_none(tmp_path: Path) -> None:
    pytest.importorskip("milvus_lite")
    pytest.importorskip("pymilvus")
    examples = [{"text": text, "label": text[0]} for text in ("a b", "a c", "b d", "b e")]
    alone = on_engine(tmp_path).model_copy(
        update={"vector_engine": "", "data": tmp_path / "one-machine"}
    )
    async with run_app(alone) as running:
        fitted = await running.client.put(
            "/classifiers/desk", json={"examples": examples}, params={"wait": "true"}
        )
        assert fitted.json()["state"] == "succeeded"
    head = tmp_path / "one-machine" / "classifiers" / "desk" / "v1"
    async with run_app(on_engine(tmp_path).model_copy(update={"head": [head]})) as running:
        labels = await running.client.post("/classify", json={"classifier": "desk", "inputs": "a"})
        assert labels.json()[0][0]["label"] == "a"
        for method, path in (
            ("PUT", "/classifiers/other"),
            ("PUT", "/classifiers/desk"),
            ("DELETE", "/classifiers/desk"),
            ("POST", "/classifiers/desk/versions/1/activate"),
            ("DELETE", "/classifiers/desk/versions/1"),
        ):
            refused = await running.client.request(method, path, json={"examples": examples})
            problem = assert_problem(refused, 409, field="classifiers")
            assert "--head DIR" in str(problem["remedy"])
        assert (await running.client.get("/jobs")).json()["jobs"] == []


@pytest.mark.filterwarnings("ignore")
async def test_a_demo_of_other_weights_stays_and_is_told_of(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    pytest.importorskip("milvus_lite")
    pytest.importorskip("pymilvus")
    first = on_engine(tmp_path).model_copy(update={"demo_corpus": True})
    async with run_app(first) as running:
        made = (await running.client.get("/corpora/demo")).json()
    retrained = make_tiny_bundle(tmp_path / "retrained", seed=8)
    async with run_app(first.model_copy(update={"model": [retrained]})) as running:
        assert (await running.client.get("/corpora/demo")).json() == made
    assert "The demo corpus is not encoded anew: Only the built-in engine" in caplog.text
    assert f"'demo' was encoded by tiny with weights {made['identity']}" in caplog.text


def test_an_engine_without_its_client_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pymilvus", None)
    with pytest.raises(SettingsError, match="milvus"):
        load(on_engine(tmp_path), Metrics())
