from __future__ import annotations

from pathlib import Path

import pytest

from tests.service.api.running import DOCUMENTS, Running, assert_problem, run_app, tiny_settings
from tests.tiny_bundle import DIMENSION, make_tiny_bundle


async def test_a_corpus_is_made_described_listed_and_dropped(running: Running) -> None:
    client = running.client
    made = await client.put("/corpora/library", json={"metadata": {"owner": "me"}})
    assert made.status_code == 201
    described = await client.get("/corpora/library")
    assert described.json() == made.json()
    corpus = described.json()
    assert corpus["model"] == "tiny"
    (model,) = (await client.get("/models")).json()["models"]
    assert corpus["identity"] == model["identity"]
    assert corpus["space"] == "tiny-space"
    assert corpus["dimension"] == DIMENSION
    assert corpus["documents"] == 0
    assert corpus["metadata"] == {"owner": "me"}
    listed = (await client.get("/corpora")).json()["corpora"]
    assert [c["name"] for c in listed] == ["library"]
    dropped = await client.delete("/corpora/library")
    assert (dropped.status_code, dropped.content) == (204, b"")
    assert (await client.get("/corpora")).json() == {"corpora": []}
    assert_problem(await client.delete("/corpora/library"), 404)
    assert_problem(await client.get("/corpora/library"), 404)


async def test_a_corpus_that_is_dropped_meanwhile_is_in_no_list(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    await running.fill("library")
    await running.fill("other")
    corpora = running.state.resources.corpora
    listed = corpora.list()
    monkeypatch.setattr(corpora, "list", lambda: listed)
    corpora.drop("other")
    found = (await running.client.get("/corpora")).json()["corpora"]
    assert [corpus["name"] for corpus in found] == ["library"]


async def test_asking_twice_for_the_same_changes_nothing(running: Running) -> None:
    await running.fill("library")
    again = await running.client.put("/corpora/library")
    assert again.status_code == 200
    assert again.json()["documents"] == len(DOCUMENTS)


async def test_asking_for_another_is_a_conflict(running: Running) -> None:
    await running.client.put("/corpora/library", json={"metadata": {"owner": "me"}})
    for body in ({"dimensions": 8}, {"metadata": {"owner": "you"}}):
        assert_problem(await running.client.put("/corpora/library", json=body), 409)


async def test_the_languages_are_counted(running: Running) -> None:
    await running.fill()
    corpus = (await running.client.get("/corpora/library")).json()
    assert corpus["languages"] == {"en": 2, "de": 2, "ja": 1}
    assert corpus["documents"] == len(DOCUMENTS)


async def test_a_corpus_may_hold_shorter_vectors(running: Running) -> None:
    await running.client.put("/corpora/short", json={"dimensions": 8})
    stored = await running.client.post("/corpora/short/documents", json={"documents": DOCUMENTS})
    assert stored.status_code == 200
    lines = b'{"id": "extra", "text": "Rivers carry sand."}\n'
    streamed = await running.client.post(
        "/corpora/short/documents",
        content=lines,
        headers={"content-type": "application/x-ndjson"},
    )
    assert streamed.status_code == 200, streamed.text
    (hits,) = (
        await running.client.post("/similar", json={"inputs": "Rivers carry sand.", "k": 1})
    ).json()
    assert hits[0]["id"] == "extra"
    assert hits[0]["score"] == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({"model": "nope"}, 404, "model"),
        ({"dimensions": 0}, 422, "dimensions"),
        ({"dimensions": DIMENSION + 1}, 422, "dimensions"),
        ({"metadata": []}, 400, "metadata"),
        ({"metadata": {"a": {"b": 1}}}, 422, "metadata.a"),
        ([], 400, None),
    ],
)
async def test_what_cannot_be_made_is_refused(
    running: Running, body: object, status: int, field: str | None
) -> None:
    assert_problem(await running.client.put("/corpora/a", json=body), status, field=field)


@pytest.mark.parametrize("name", ["Upper", "-a", "a" * 65, "a b", "..", "%2e%2e", "a%00b", "é"])
async def test_a_name_that_is_none_is_refused(running: Running, name: str) -> None:
    response = await running.client.put(f"/corpora/{name}")
    assert response.status_code in (404, 405, 422)
    assert_problem(response, response.status_code)


async def test_what_was_stored_is_there_after_a_restart(tmp_path: Path, tiny_bundle: Path) -> None:
    settings = tiny_settings(tiny_bundle, tmp_path / "data")
    async with run_app(settings) as running:
        await running.fill()
        before = (await running.client.post("/similar", json={"inputs": "cat"})).json()
    async with run_app(settings) as running:
        assert (await running.client.post("/similar", json={"inputs": "cat"})).json() == before


async def test_a_corpus_can_be_made_for_another_model(tmp_path: Path, tiny_bundle: Path) -> None:
    other = make_tiny_bundle(tmp_path / "other", name="other", space="other-space", seed=1)
    settings = tiny_settings(tiny_bundle, tmp_path / "data", model=[tiny_bundle, other])
    async with run_app(settings) as running:
        made = await running.client.put("/corpora/theirs", json={"model": "other"})
        assert made.json()["space"] == "other-space"
        stored = await running.client.post(
            "/corpora/theirs/documents", json={"documents": DOCUMENTS}
        )
        assert stored.headers["x-model"] == "other"
        refused = await running.client.post(
            "/corpora/theirs/documents", json={"documents": DOCUMENTS, "model": "tiny"}
        )
        assert_problem(refused, 409, field="model")


async def test_the_index_is_as_asked_for(running: Running) -> None:
    asked = {"index": {"kind": "ivf", "recall": 0.9}}
    made = await running.client.put("/corpora/library", json=asked)
    assert made.json()["index_policy"] == asked["index"]
    assert (made.json()["index"], made.json()["recall"]) == ("flat", 1.0)  # too small yet
    assert (await running.client.put("/corpora/library", json=asked)).status_code == 200
    assert (await running.client.put("/corpora/library")).status_code == 200
    other = {"index": {"kind": "flat"}}
    assert_problem(await running.client.put("/corpora/library", json=other), 409)


@pytest.mark.parametrize("index", [{"kind": "hnsw"}, {"recall": 1.0}, {"recall": 0.1}, "flat"])
async def test_an_index_that_there_is_not_is_refused(running: Running, index: object) -> None:
    problem = await running.client.put("/corpora/library", json={"index": index})
    assert problem.status_code in (400, 422)
    assert "index" in problem.json()["field"]
