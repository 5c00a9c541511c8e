from __future__ import annotations

import asyncio

import numpy as np
import pytest

from service.inference.encoder import Encoder
from tests.service.api.running import Running, assert_problem
from tests.tiny_bundle import DIMENSION, MAX_TOKENS

LONG = "cat " * 500
TEXTS = ["The cat sleeps.", "Die Katze schläft.", "", "猫は眠っている。"]


@pytest.mark.parametrize("path", ["/embed", "/"])
async def test_the_vectors_are_the_encoders_own(
    running: Running, tiny_encoder: Encoder, path: str
) -> None:
    response = await running.client.post(path, json={"inputs": TEXTS})
    assert response.status_code == 200
    np.testing.assert_allclose(response.json(), tiny_encoder.encode(TEXTS), atol=1e-6)


async def test_one_text_gives_a_list_of_one_vector(running: Running, tiny_encoder: Encoder) -> None:
    response = await running.client.post("/embed", json={"inputs": "The cat sleeps."})
    np.testing.assert_allclose(response.json(), tiny_encoder.encode(["The cat sleeps."]), atol=1e-6)


async def test_texts_is_another_name_for_inputs(running: Running) -> None:
    a = await running.client.post("/embed", json={"inputs": TEXTS})
    b = await running.client.post("/embed", json={"texts": TEXTS})
    assert a.json() == b.json()


async def test_too_few_dimensions_are_told_the_most(running: Running) -> None:
    for path, text in (("/embed", "inputs"), ("/v1/embeddings", "input")):
        body = {text: "a", "model": "tiny", "dimensions": 0}
        answer = await running.client.post(path, json=body)
        assert f"Ask for 1 to {DIMENSION}" in answer.text


async def test_cutting_dimensions_scales_to_length_1_again(running: Running) -> None:
    response = await running.client.post("/embed", json={"inputs": TEXTS[0], "dimensions": 8})
    (vector,) = np.asarray(response.json())
    assert vector.shape == (8,)
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-6)


async def test_normalize_false_leaves_the_length(running: Running, tiny_encoder: Encoder) -> None:
    response = await running.client.post("/embed", json={"inputs": TEXTS, "normalize": False})
    expected = tiny_encoder.encode(TEXTS, normalize=False)
    np.testing.assert_allclose(response.json(), expected, atol=1e-6)


async def test_a_prompt_is_put_before_each_text(running: Running, tiny_encoder: Encoder) -> None:
    body = {"inputs": "where?", "prompt_name": "ask"}
    response = await running.client.post("/embed", json=body)
    expected = tiny_encoder.encode(["question: where?"])
    np.testing.assert_allclose(response.json(), expected, atol=1e-6)


async def test_the_headers_tell_what_it_took(running: Running) -> None:
    response = await running.client.post("/embed", json={"inputs": TEXTS})
    headers = response.headers
    for name in ("total", "tokenization", "queue", "inference"):
        assert float(headers[f"x-{name}-time"]) >= 0
    assert float(headers["x-total-time"]) >= float(headers["x-inference-time"])
    assert headers["x-compute-time"] == headers["x-total-time"]
    assert headers["x-compute-type"] == "cpu+optimized"
    assert headers["x-model"] == "tiny"
    assert int(headers["x-compute-characters"]) == sum(map(len, TEXTS))
    assert int(headers["x-compute-tokens"]) > 0
    assert "inference;dur=" in headers["server-timing"]
    assert "x-truncated" not in headers


async def test_what_was_cut_is_said(running: Running, tiny_encoder: Encoder) -> None:
    response = await running.client.post("/embed", json={"inputs": ["cat", LONG, "cat", LONG]})
    assert response.headers["x-truncated"] == "1, 3"
    assert response.headers["x-truncated-count"] == "2"
    assert int(response.headers["x-compute-tokens"]) >= 2 * MAX_TOKENS
    assert await running.metric("interlingua_truncated_total") == 2


async def test_the_side_that_is_cut_can_be_chosen(running: Running) -> None:
    text = "cat " * 200 + "bread " * 200
    left, right = [
        (await running.client.post("/embed", json={"inputs": text, "truncation_direction": side}))
        for side in ("Left", "Right")
    ]
    assert left.status_code == right.status_code == 200
    assert left.json() != right.json()


async def test_null_means_not_given(running: Running) -> None:
    names = ("truncate", "prompt_name", "normalize", "dimensions", "model", "language")
    response = await running.client.post("/embed", json={"inputs": "a"} | dict.fromkeys(names))
    assert response.status_code == 200


async def test_null_where_a_value_is_due_is_quoted(running: Running) -> None:
    for inputs, field in ((None, "inputs"), (["a", None], "inputs[1]")):
        response = await running.client.post("/embed", json={"inputs": inputs})
        assert assert_problem(response, 400, field=field)["given"] == "null"


async def test_unknown_fields_are_ignored(running: Running) -> None:
    response = await running.client.post("/embed", json={"inputs": "a", "task": "x", "prefix": 1})
    assert response.status_code == 200


async def test_concurrent_requests_get_their_own_vectors(
    running: Running, tiny_encoder: Encoder
) -> None:
    requests = [[f"cat number {i}", f"bread of day {i}"][: 1 + i % 2] for i in range(60)]
    responses = await asyncio.gather(
        *(running.client.post("/embed", json={"inputs": texts}) for texts in requests)
    )
    for texts, response in zip(requests, responses, strict=True):
        np.testing.assert_allclose(response.json(), tiny_encoder.encode(texts), atol=1e-5)


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({}, 400, "inputs"),
        ({"inputs": []}, 400, "inputs"),
        ({"inputs": None}, 400, "inputs"),
        ({"inputs": 7}, 400, "inputs"),
        ({"inputs": {"a": "b"}}, 400, "inputs"),
        ({"inputs": ["a", 7]}, 400, "inputs[1]"),
        ({"inputs": ["a", ["b"]]}, 400, "inputs[1]"),
        ({"inputs": [1, 2, 3]}, 422, "inputs"),
        ({"inputs": [[1, 2], [3]]}, 422, "inputs"),
        ({"inputs": "a", "dimensions": 0}, 422, "dimensions"),
        ({"inputs": "a", "dimensions": DIMENSION + 1}, 422, "dimensions"),
        ({"inputs": "a", "dimensions": "8"}, 400, "dimensions"),
        ({"inputs": "a", "dimensions": 1e30}, 400, "dimensions"),
        ({"inputs": "a", "normalize": "yes"}, 400, "normalize"),
        ({"inputs": "a", "model": "gpt-7"}, 404, "model"),
        ({"inputs": "a", "language": "xx"}, 422, "language"),
        ({"inputs": "a", "language": ["de"]}, 400, "language"),
        ({"inputs": "a", "prompt_name": "nope"}, 422, "prompt_name"),
        ({"inputs": "a", "truncation_direction": "Up"}, 422, "truncation_direction"),
        ({"inputs": ["a", "b " * 500], "truncate": False}, 422, "inputs[1]"),
        ({"inputs": ["a"] * 2049}, 413, "inputs"),
    ],
)
async def test_what_cannot_be_used_is_refused_with_field_and_remedy(
    running: Running, body: dict[str, object], status: int, field: str
) -> None:
    assert_problem(await running.client.post("/embed", json=body), status, field=field)


async def test_similarity_is_the_cosine(running: Running, tiny_encoder: Encoder) -> None:
    source, others = "The cat sleeps.", ["Die Katze schläft.", "Fresh bread"]
    response = await running.client.post(
        "/similarity", json={"inputs": {"source_sentence": source, "sentences": others}}
    )
    vectors = tiny_encoder.encode([source, *others])
    np.testing.assert_allclose(response.json(), vectors[1:] @ vectors[0], atol=1e-6)
    # One trip through the queue, not one for each side.
    assert await running.metric("interlingua_queue_seconds_count") == 1


@pytest.mark.parametrize(
    ("inputs", "field"),
    [
        ("text", "inputs"),
        ({"source_sentence": "a"}, "inputs.sentences"),
        ({"source_sentence": "a", "sentences": "b"}, "inputs.sentences"),
        ({"source_sentence": "a", "sentences": []}, "inputs.sentences"),
        ({"source_sentence": 1, "sentences": ["b"]}, "inputs.source_sentence"),
    ],
)
async def test_similarity_refuses_other_shapes(
    running: Running, inputs: object, field: str
) -> None:
    response = await running.client.post("/similarity", json={"inputs": inputs})
    assert_problem(response, 400, field=field)


@pytest.mark.parametrize(
    ("inputs", "field"),
    [
        ({"source_sentence": "a", "sentences": ["b", "c", LONG]}, "inputs.sentences[2]"),
        ({"source_sentence": LONG, "sentences": ["b"]}, "inputs.source_sentence"),
    ],
)
async def test_a_sentence_that_must_not_be_cut_is_named(
    running: Running, inputs: dict[str, object], field: str
) -> None:
    body = {"inputs": inputs, "parameters": {"truncate": False}}
    problem = assert_problem(await running.client.post("/similarity", json=body), 422, field=field)
    if field.endswith("[2]"):
        assert str(problem["detail"]).startswith("Text 2 ")


async def test_the_sentences_alone_are_counted_and_said_to_be_cut(running: Running) -> None:
    most = running.state.settings.max_inputs
    inputs = {"source_sentence": "a", "sentences": ["b"] * most}
    assert (await running.client.post("/similarity", json={"inputs": inputs})).status_code == 200
    inputs = {"source_sentence": "a", "sentences": ["b", LONG]}
    response = await running.client.post("/similarity", json={"inputs": inputs})
    assert response.headers["x-truncated"] == "1"


async def test_errors_have_text_embeddings_inferences_members_too(running: Running) -> None:
    for path in ("/embed", "/", "/similarity", "/rerank", "/predict", "/tokenize"):
        problem = (await running.client.post(path, json={})).json()
        assert problem["error_type"] == "Validation"
        assert problem["error"].startswith(problem["detail"])
    assert "error" not in (await running.client.post("/similar", json={})).json()


async def test_no_cosine_lies_beyond_one(running: Running, tiny_encoder: Encoder) -> None:
    texts = [f"The cat sleeps on windowsill {number}." for number in range(64)]
    vectors = tiny_encoder.encode(texts)
    beyond = [t for t, v in zip(texts, vectors, strict=True) if (vectors @ v).max() > 1]
    assert beyond, "or the test shows nothing"
    for text in beyond:
        inputs = {"source_sentence": text, "sentences": texts}
        response = await running.client.post("/similarity", json={"inputs": inputs})
        assert max(response.json()) <= 1
        response = await running.client.post("/rerank", json={"query": text, "texts": texts})
        assert max(place["score"] for place in response.json()) <= 1
