from __future__ import annotations

import pytest

from service.inference.encoder import Encoder
from tests.service.api.running import Running, assert_problem

TEXT = "Fresh bread"


async def test_the_tokens_are_those_that_the_model_gets(
    running: Running, tiny_encoder: Encoder
) -> None:
    answer = await running.client.post("/tokenize", json={"inputs": TEXT})
    (tokens,) = answer.json()
    expected = tiny_encoder.towers["*"].tokenizer.encode([TEXT], max_tokens=64).tokens[0]
    assert [token["id"] for token in tokens] == list(expected)
    assert set(tokens[0]) == {"id", "text", "special", "start", "stop"}
    assert tokens[0]["start"] == 0
    assert tokens[-1]["stop"] == len(TEXT)


async def test_a_list_gives_a_list_for_each(running: Running) -> None:
    answer = (await running.client.post("/tokenize", json={"inputs": ["a", ""]})).json()
    assert len(answer) == 2
    assert answer[1] == []


async def test_a_prompt_is_tokenised_with_the_text(running: Running) -> None:
    body = {"inputs": "bread"}
    plain = (await running.client.post("/tokenize", json=body)).json()[0]
    prompted = (await running.client.post("/tokenize", json=body | {"prompt_name": "ask"})).json()
    assert len(prompted[0]) > len(plain)
    assert_problem(
        await running.client.post("/tokenize", json=body | {"prompt_name": "x"}),
        422, field="prompt_name",
    )  # fmt: skip


async def test_decode_is_the_way_back(running: Running) -> None:
    tokens = (await running.client.post("/tokenize", json={"inputs": [TEXT, "猫"]})).json()
    ids = [[token["id"] for token in row] for row in tokens]
    assert (await running.client.post("/decode", json={"ids": ids})).json() == [TEXT, "猫"]
    assert (await running.client.post("/decode", json={"ids": ids[0]})).json() == [TEXT]


@pytest.mark.parametrize(
    ("ids", "field"), [([10**6], "ids[0]"), ([-1], "ids[0]"), ([[5], [10**6]], "ids[1]")]
)
async def test_ids_of_another_vocabulary_are_refused(
    running: Running, ids: object, field: str
) -> None:
    assert_problem(await running.client.post("/decode", json={"ids": ids}), 422, field=field)


async def test_too_many_texts_are_refused(running: Running) -> None:
    body = {"inputs": ["a"] * 2049}
    assert_problem(await running.client.post("/tokenize", json=body), 413, field="inputs")


async def test_special_tokens_are_shown_where_they_are_asked_for(running: Running) -> None:
    (tokens,) = (await running.client.post("/tokenize", json={"inputs": TEXT})).json()
    ids = [1, *(token["id"] for token in tokens), 2]
    for fields, expected in (
        ({}, TEXT),
        ({"skip_special_tokens": True}, TEXT),
        ({"skip_special_tokens": False}, f"<s>{TEXT}</s>"),
    ):
        answer = await running.client.post("/decode", json={"ids": ids} | fields)
        assert answer.json() == [expected]
