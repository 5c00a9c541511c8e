from __future__ import annotations

import numpy as np
import pytest

from service.inference.encoder import Encoder
from tests.service.api.running import Running, assert_problem

QUERY = "Where does the cat sleep?"
TEXTS = ["Fresh bread smells best.", "The cat sleeps on the windowsill.", "Die Katze schläft."]


def cosines(encoder: Encoder) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    query = encoder.encode(QUERY)
    return np.asarray(encoder.encode(TEXTS) @ query, dtype=np.float32)


async def test_texts_come_best_first_with_their_cosines(
    running: Running, tiny_encoder: Encoder
) -> None:
    response = await running.client.post("/rerank", json={"query": QUERY, "texts": TEXTS})
    expected = cosines(tiny_encoder)
    places = response.json()
    assert [place["index"] for place in places] == np.argsort(-expected).tolist()
    found = [place["score"] for place in places]
    np.testing.assert_allclose(found, sorted(expected, reverse=True), atol=1e-6)
    assert all("text" not in place for place in places)


async def test_the_texts_are_given_back_where_asked_for(running: Running) -> None:
    body = {"query": QUERY, "texts": TEXTS, "return_text": True, "raw_scores": True}
    places = (await running.client.post("/rerank", json=body)).json()
    assert [place["text"] for place in places] == [TEXTS[place["index"]] for place in places]


async def test_equals_stay_in_their_order(running: Running) -> None:
    body = {"query": QUERY, "texts": ["cat"] * 5}
    places = (await running.client.post("/rerank", json=body)).json()
    assert [place["index"] for place in places] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("path", ["/v1/rerank", "/v2/rerank"])
async def test_documents_in_the_shape_of_cohere(
    running: Running, tiny_encoder: Encoder, path: str
) -> None:
    body = {
        "model": "rerank-v3.5",
        "query": QUERY,
        "documents": [TEXTS[0], {"text": TEXTS[1]}, TEXTS[2]],
        "top_n": 2,
        "return_documents": True,
    }
    found = (await running.client.post(path, json=body)).json()
    expected = cosines(tiny_encoder)
    order = np.argsort(-expected)[:2].tolist()
    assert [result["index"] for result in found["results"]] == order
    scores = [result["relevance_score"] for result in found["results"]]
    np.testing.assert_allclose(scores, expected[order], atol=1e-6)
    assert [result["document"]["text"] for result in found["results"]] == [TEXTS[i] for i in order]
    assert found["model"] == "tiny"
    assert found["usage"]["total_tokens"] == found["usage"]["prompt_tokens"] > len(TEXTS)


async def test_what_was_cut_is_said(running: Running) -> None:
    body = {"query": QUERY, "documents": ["cat", "cat " * 500]}
    found = (await running.client.post("/v1/rerank", json=body)).json()
    assert found["usage"]["truncated"] == [1]


async def test_the_place_of_a_query_that_was_cut_is_behind_the_texts(running: Running) -> None:
    texts, query = ["cat", "cat " * 500, "bread"], "cat " * 500
    plain = await running.client.post("/rerank", json={"query": query, "texts": texts})
    cohere = await running.client.post("/v1/rerank", json={"query": query, "documents": texts})
    assert plain.headers["x-truncated"] == cohere.headers["x-truncated"] == "1, 3"
    assert cohere.json()["usage"]["truncated"] == [1, 3]


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({}, 400, "query"),
        ({"query": "a", "texts": []}, 400, "texts"),
        ({"query": "a", "texts": "b"}, 400, "texts"),
        ({"query": ["a"], "texts": ["b"]}, 400, "query"),
        ({"query": "a", "texts": ["b", 7]}, 400, "texts[1]"),
        ({"query": "a", "documents": ["b"]}, 400, "texts"),
        ({"query": "a", "texts": ["b"], "model": "gpt-7"}, 404, "model"),
        ({"query": "a", "texts": ["b"] * 2049}, 413, "texts"),
        ({"query": "a", "texts": ["b", "c " * 500], "truncate": False}, 422, "texts[1]"),
        ({"query": "c " * 500, "texts": ["b"], "truncate": False}, 422, "query"),
    ],
)
async def test_what_cannot_be_used_is_refused_with_field_and_remedy(
    running: Running, body: dict[str, object], status: int, field: str
) -> None:
    assert_problem(await running.client.post("/rerank", json=body), status, field=field)


async def test_each_shape_names_the_other(running: Running) -> None:
    problem = assert_problem(
        await running.client.post("/rerank", json={"query": "a", "documents": ["b"]}), 400
    )
    assert "/v1/rerank" in str(problem["remedy"])


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"query": "a"}, "documents"),
        ({"query": "a", "documents": [{"title": "b"}]}, "documents[0]"),
        ({"query": "a", "documents": ["b"], "top_n": 0}, "top_n"),
    ],
)
@pytest.mark.parametrize("path", ["/v1/rerank", "/v2/rerank"])
async def test_errors_below_v1_have_openais_shape(
    running: Running, path: str, body: dict[str, object], param: str
) -> None:
    response = await running.client.post(path, json=body)
    assert response.status_code == 400
    assert response.json()["error"]["param"] == param
