from __future__ import annotations

import asyncio
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from service.api import similar
from service.inference.encoder import Encoder
from service.search.corpus import Corpus
from service.search.document import Hit
from service.search.query import Found, find
from tests.service.api.running import (
    DOCUMENTS,
    Running,
    assert_problem,
    post_and_leave,
    run_app,
    tiny_settings,
)
from tests.tiny_bundle import DIMENSION, make_tiny_bundle

QUERY = "Die Katze schläft auf der warmen Fensterbank."


@pytest.fixture
async def library(running: Running) -> Running:
    await running.fill()
    return running


async def test_hits_come_in_the_order_of_their_cosine(
    library: Running, tiny_encoder: Encoder
) -> None:
    response = await library.client.post("/similar", json={"inputs": QUERY, "k": 5})
    (hits,) = response.json()
    vectors = tiny_encoder.encode([QUERY, *(str(d["text"]) for d in DOCUMENTS)])
    cosines = vectors[1:] @ vectors[0]
    order = np.argsort(-cosines)
    assert [hit["id"] for hit in hits] == [DOCUMENTS[i]["id"] for i in order]
    np.testing.assert_allclose([hit["score"] for hit in hits], cosines[order], atol=1e-5)
    assert hits[0] == DOCUMENTS[1] | {"score": pytest.approx(1.0, abs=1e-5)}


async def test_each_input_has_its_list(library: Running) -> None:
    texts = [str(d["text"]) for d in DOCUMENTS]
    response = await library.client.post("/similar", json={"inputs": texts, "k": 1})
    assert [hits[0]["id"] for hits in response.json()] == [d["id"] for d in DOCUMENTS]


async def test_get_gives_the_one_list(library: Running) -> None:
    posted = await library.client.post(
        "/similar", json={"inputs": QUERY, "k": 2, "languages": ["en", "ja"]}
    )
    got = await library.client.get("/similar", params={"q": QUERY, "k": 2, "languages": "en,ja"})
    assert got.json() == posted.json()[0]
    assert {hit["language"] for hit in got.json()} <= {"en", "ja"}


async def test_get_takes_a_filter(library: Running) -> None:
    await library.client.post(
        "/corpora/library/documents",
        json={"documents": [{"id": "law", "text": QUERY, "metadata": {"topic": "law"}}]},
    )
    params = {"q": QUERY, "corpus": "library", "filter": '{"topic": "law"}'}
    got = await library.client.get("/similar", params=params)
    assert [hit["id"] for hit in got.json()] == ["law"]


async def test_languages_filter_and_least_score_narrow_it(library: Running) -> None:
    async def ids(**conditions: object) -> set[str]:
        body = {"inputs": QUERY, "k": 10} | conditions
        (hits,) = (await library.client.post("/similar", json=body)).json()
        return {hit["id"] for hit in hits}

    assert await ids(languages=["de"]) == {"cat-de", "bread/de"}
    assert await ids(filter={"topic": "food"}) == {"bread-en", "bread/de"}
    assert await ids(filter={"topic": "food"}, languages=["en"]) == {"bread-en"}
    assert await ids(min_score=0.999) == {"cat-de"}


async def test_a_documents_own_neighbours_leave_it_out(library: Running) -> None:
    body = {"ids": ["cat-en", "bread/de"], "k": 10}
    first, second = (await library.client.post("/similar", json=body)).json()
    assert {hit["id"] for hit in first} == {d["id"] for d in DOCUMENTS} - {"cat-en"}
    assert {hit["id"] for hit in second} == {d["id"] for d in DOCUMENTS} - {"bread/de"}


async def test_vectors_are_taken_as_they_are(library: Running, tiny_encoder: Encoder) -> None:
    vector = tiny_encoder.encode(QUERY).tolist()
    for vectors in (vector, [vector]):
        (hits,) = (await library.client.post("/similar", json={"vectors": vectors, "k": 1})).json()
        assert hits[0]["id"] == "cat-de"


async def test_the_times_are_in_headers_and_metrics(library: Running) -> None:
    response = await library.client.post("/similar", json={"inputs": QUERY})
    assert "search;dur=" in response.headers["server-timing"]
    name = "interlingua_index_search_seconds_count"
    assert await library.metric(name, corpus="library") == 1
    assert await library.metric("interlingua_index_vectors", corpus="library") == len(DOCUMENTS)


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({}, 422, "inputs"),
        ({"inputs": "a", "ids": ["cat-en"]}, 422, "ids"),
        ({"inputs": []}, 400, "inputs"),
        ({"inputs": ""}, 422, "inputs[0]"),
        ({"inputs": ["a", " \n"]}, 422, "inputs[1]"),
        ({"ids": []}, 400, "ids"),
        ({"ids": "cat-en"}, 400, "ids"),
        ({"ids": ["nope"]}, 404, None),
        ({"vectors": []}, 400, "vectors"),
        ({"vectors": "abc"}, 400, "vectors"),
        ({"vectors": [[0.5, "x"]]}, 400, "vectors[0][1]"),
        ({"vectors": [[0.5, 0.5]]}, 422, "vectors[0]"),
        ({"vectors": [[1e39] * DIMENSION]}, 422, "vectors[0]"),
        ({"vectors": [[1] * DIMENSION, [0] * DIMENSION]}, 422, "vectors[1]"),
        ({"inputs": ["a", "\u200b"]}, 422, "inputs[1]"),
        ({"inputs": "a", "k": 0}, 422, "k"),
        ({"inputs": "a", "k": 1001}, 422, "k"),
        ({"inputs": "a", "k": "5"}, 400, "k"),
        ({"inputs": "a", "k": True}, 400, "k"),
        ({"inputs": "a", "min_score": 1.5}, 422, "min_score"),
        ({"inputs": "a", "languages": "de"}, 400, "languages"),
        ({"inputs": "a", "languages": ["de", "xx"]}, 422, "languages[1]"),
        ({"inputs": "a", "languages": ["German"]}, 422, "languages[0]"),
        ({"inputs": "a", "filter": "topic"}, 400, "filter"),
        ({"inputs": "a", "corpus": "nope"}, 404, None),
        ({"inputs": "a", "corpus": "../../etc"}, None, None),
        ({"inputs": "a", "model": "nope"}, 404, "model"),
    ],
)
async def test_what_cannot_be_used_is_refused(
    library: Running, body: dict[str, object], status: int | None, field: str | None
) -> None:
    response = await library.client.post("/similar", json=body)
    assert_problem(response, status or response.status_code, field=field)
    assert response.status_code in (400, 404, 422)


@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({}, "q"),
        ({"q": ""}, "q"),
        ({"q": " "}, "q"),
        ({"q": "\ufeff"}, "q"),
        ({"q": "a", "k": "0"}, "k"),
        ({"q": "a", "k": "x"}, "k"),
        ({"q": "a", "filter": "[]"}, "filter"),
        ({"q": "a", "filter": "topic"}, "filter"),
        ({"q": "a", "filter": "[" * 100 + "]" * 100}, "filter"),
    ],
)
async def test_the_get_form_too(library: Running, params: dict[str, str], field: str) -> None:
    response = await library.client.get("/similar", params=params)
    wrong_value = params.get("k") == "0" or params.get("q", "a").strip(" \ufeff") == ""
    assert_problem(response, 422 if wrong_value else 400, field=field)


async def test_a_misspelt_parameter_is_refused(library: Running) -> None:
    response = await library.client.get("/similar", params={"q": "a", "min_scor": "0.5"})
    assert "min_score" in str(assert_problem(response, 422, field="min_scor")["remedy"])


async def test_without_a_corpus_it_says_how_to_make_one(running: Running) -> None:
    problem = assert_problem(await running.client.post("/similar", json={"inputs": "a"}), 404)
    assert "PUT /corpora" in str(problem["remedy"])


async def test_of_several_corpora_one_must_be_named_unless_one_is_the_demo(
    library: Running,
) -> None:
    await library.fill("archive")
    response = await library.client.post("/similar", json={"inputs": "a"})
    assert_problem(response, 422, field="corpus")
    await library.fill("demo")
    assert (await library.client.post("/similar", json={"inputs": "a"})).status_code == 200


async def test_a_model_of_another_space_is_refused(tmp_path: Path, tiny_bundle: Path) -> None:
    other = make_tiny_bundle(tmp_path / "other", name="other", space="other-space", seed=1)
    twin = make_tiny_bundle(tmp_path / "twin", name="twin", seed=7)
    settings = tiny_settings(tiny_bundle, tmp_path / "data", model=[tiny_bundle, other, twin])
    async with run_app(settings) as running:
        await running.fill()
        body = {"inputs": QUERY, "k": 1}
        refused = await running.client.post("/similar", json=body | {"model": "other"})
        assert_problem(refused, 409, field="model")
        answered = await running.client.post("/similar", json=body | {"model": "twin"})
        assert answered.json()[0][0]["id"] == "cat-de"
        assert answered.headers["x-model"] == "twin"
        for nothing_to_encode in ({"vectors": [[0.1] * DIMENSION]}, {"ids": ["cat-de"]}):
            for model, status in (("other", 409), ("nope", 404), ("twin", 200)):
                body = {**nothing_to_encode, "model": model}
                answered = await running.client.post("/similar", json=body)
                assert answered.status_code == status, answered.text


async def test_a_corpus_whose_model_is_gone_says_which_it_needs(
    tmp_path: Path, tiny_bundle: Path
) -> None:
    async with run_app(tiny_settings(tiny_bundle, tmp_path / "data")) as running:
        await running.fill()
    other = make_tiny_bundle(tmp_path / "other", name="other", space="other-space", seed=1)
    async with run_app(tiny_settings(other, tmp_path / "data")) as running:
        problem = assert_problem(await running.client.post("/similar", json={"inputs": "a"}), 409)
        assert "tiny" in str(problem["remedy"])


async def test_hits_come_in_pages_and_in_the_fields_asked_for(library: Running) -> None:
    async def search(**more: object) -> list[dict[str, object]]:
        response = await library.client.post("/similar", json={"inputs": "cat", **more})
        assert response.status_code == 200, response.text
        (hits,) = response.json()
        return list(hits)

    whole = await search(k=5)
    assert await search(k=2, offset=2) == whole[2:4]
    brief = await search(k=5, fields=["id", "metadata.topic", "metadata.nope"])
    assert brief == [
        {"id": hit["id"], "metadata": {"topic": hit["metadata"]["topic"]}}  # type: ignore[index]
        for hit in whole
    ]
    grouped = await search(k=5, group={"field": "topic"})
    assert len(grouped) == 2
    assert grouped[0]["group"]["languages"] == ["de", "en", "ja"]  # type: ignore[index]
    margins = [hit["margin"] for hit in await search(k=5, margin=True)]
    assert margins == sorted(margins, reverse=True)  # type: ignore[type-var]


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"fields": ["nope"]}, "fields[0]"),
        ({"offset": -1}, "offset"),
        ({"offset": 10_000}, "offset"),
        ({"group": {}}, "group"),
        ({"group": {"score": 0.5, "field": "a"}}, "group"),
        ({"group": {"score": 2}}, "group.score"),
        ({"group": {"field": ""}}, "group.field"),
    ],
)
async def test_what_a_search_cannot_do_is_refused(
    library: Running, more: dict[str, object], field: str
) -> None:
    response = await library.client.post("/similar", json={"inputs": "cat", **more})
    assert_problem(response, 422, field=field)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"inputs": ["cat"] * 2049}, "inputs"),
        ({"ids": ["cat-en"] * 2049}, "ids"),
        ({"vectors": [[1.0] * DIMENSION] * 2049}, "vectors"),
        ({"ids": ["cat-en"] * 257, "k": 1000}, "k"),
        ({"ids": ["cat-en"] * 129, "k": 1000, "offset": 1000}, "k"),
        ({"ids": ["cat-en"] * 65, "k": 1000, "margin": True}, "k"),
        ({"ids": ["cat-en"] * 65, "k": 1000, "group": {"field": "topic"}}, "k"),
    ],
)
async def test_what_is_too_much_for_one_search_is_refused(
    library: Running, body: dict[str, object], field: str
) -> None:
    assert_problem(await library.client.post("/similar", json=body), 413, field=field)


@pytest.mark.parametrize(
    "body",
    [
        {"ids": ["cat-en"] * 2048},
        {"ids": ["cat-en"] * 256, "k": 1000},
        {"ids": ["cat-en"] * 2048, "group": {"field": "topic"}},
    ],
)
async def test_many_queries_are_one_search(library: Running, body: dict[str, object]) -> None:
    response = await library.client.post("/similar", json=body)
    assert response.status_code == 200, response.text
    assert len(response.json()) == len(body["ids"])  # type: ignore[arg-type]


async def test_a_document_may_be_what_is_looked_for(running: Running) -> None:
    await running.fill()
    long = "The cat sleeps on the warm windowsill. " * 60
    body = {"inputs": long, "k": 1, "document": True}
    response = await running.client.post("/similar", json=body)
    assert "x-truncated" not in response.headers
    ((hit,),) = response.json()
    assert hit["id"] == "cat-en"
    assert hit["score"] == pytest.approx(1, abs=1e-4)


async def test_a_search_is_given_up_when_the_requests_time_is_over(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    await running.fill()
    release = threading.Event()

    def slow(*_: object, **__: object) -> list[list[Found]]:
        release.wait(10)
        return [[]]

    monkeypatch.setattr(similar, "find", slow)
    try:
        began = time.perf_counter()
        response = await running.client.post(
            "/similar", json={"inputs": "cat"}, headers={"x-request-timeout": "0.1"}
        )
        assert time.perf_counter() - began < 5
    finally:
        release.set()
    assert_problem(response, 504)


async def test_a_search_that_nobody_waits_for_goes_no_further(
    library: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Margins take a search for the neighbours of each hit; the first is held until it is late."""
    late, searches, ended = threading.Event(), 0, threading.Event()
    search = Corpus.search

    def held(corpus: Corpus, *args: Any, **kwargs: Any) -> list[list[Hit]]:  # noqa: ANN401
        nonlocal searches
        searches += 1
        assert late.wait(20)
        return search(corpus, *args, **kwargs)

    def found(*args: Any, **kwargs: Any) -> list[list[Found]]:  # noqa: ANN401
        try:
            return find(*args, **kwargs)
        finally:
            ended.set()

    monkeypatch.setattr(Corpus, "search", held)
    monkeypatch.setattr(similar, "find", found)
    body = {"inputs": QUERY, "k": 2, "margin": True}
    answer = await library.client.post("/similar", json=body, headers={"x-request-timeout": "0.5"})
    assert_problem(answer, 504)
    late.set()
    assert await asyncio.to_thread(ended.wait, 20)
    assert searches == 1

    late.clear()
    ended.clear()
    gone = asyncio.Event()
    asked = asyncio.create_task(post_and_leave(library, "/similar", body, leave=gone))
    while searches < 2:
        await asyncio.sleep(0.01)
    gone.set()
    assert await asyncio.wait_for(asked, 10) == []
    late.set()
    assert await asyncio.to_thread(ended.wait, 20)
    assert searches == 2
