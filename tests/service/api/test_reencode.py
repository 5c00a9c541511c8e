from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.service.api.running import DOCUMENTS, Running, assert_problem, run_app, tiny_settings
from tests.tiny_bundle import make_tiny_bundle

PATH = "/corpora/library/reencode"


@pytest.fixture
async def two_models(tiny_bundle: Path, tmp_path: Path) -> AsyncIterator[Running]:
    other = make_tiny_bundle(tmp_path / "other", name="other", space="other-space", seed=8)
    settings = tiny_settings(tiny_bundle, tmp_path / "data", model=[tiny_bundle, other])
    async with run_app(settings) as running:
        await running.fill()
        yield running


async def test_a_corpus_is_encoded_anew_as_a_job(two_models: Running) -> None:
    client = two_models.client
    refused = {"inputs": "cat", "corpus": "library", "model": "other"}
    assert_problem(await client.post("/similar", json=refused), 409, field="model")
    begun = await client.post(PATH, json={"model": "other"})
    assert begun.status_code in (200, 202)
    over = (await client.get(begun.headers["location"], params={"wait": 20})).json()
    assert (over["state"], over["kind"], over["subject"]) == ("succeeded", "reencode", "library")
    assert over["result"] == {"documents": len(DOCUMENTS)}
    assert (over["done"], over["total"]) == (len(DOCUMENTS), len(DOCUMENTS))
    described = (await client.get("/corpora/library")).json()
    assert (described["model"], described["space"]) == ("other", "other-space")
    identities = {m["name"]: m["identity"] for m in (await client.get("/models")).json()["models"]}
    assert described["identity"] == identities["other"] != identities["tiny"]
    (hits,) = (await client.post("/similar", json={"inputs": DOCUMENTS[0]["text"]})).json()
    assert (hits[0]["id"], round(hits[0]["score"], 4)) == ("cat-en", 1.0)


async def test_it_may_be_waited_for_and_cut_to_fewer_dimensions(two_models: Running) -> None:
    over = await two_models.client.post(
        PATH, params={"wait": "true"}, json={"model": "tiny", "dimensions": 4}
    )
    assert (over.status_code, over.json()["state"]) == (200, "succeeded")
    assert (await two_models.client.get("/corpora/library")).json()["dimension"] == 4


@pytest.mark.parametrize(
    ("path", "body", "status", "field"),
    [
        (PATH, {"model": "nope"}, 404, "model"),
        (PATH, {"model": "tiny", "dimensions": 10_000}, 422, "dimensions"),
        ("/corpora/nope/reencode", {"model": "tiny"}, 404, "corpus"),
    ],
)
async def test_what_cannot_be_done_is_refused(
    two_models: Running, path: str, body: dict[str, object], status: int, field: str
) -> None:
    assert_problem(await two_models.client.post(path, json=body), status, field=field)
