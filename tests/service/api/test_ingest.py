"""Streams of documents: ready-made vectors, broken lines, progress, passages, and export."""

from __future__ import annotations

import base64

import numpy as np
import orjson
import pytest

from service.inference.encoder import Encoder
from tests.service.api.running import DOCUMENTS, Running, assert_problem

NDJSON = {"content-type": "application/x-ndjson"}
STREAMED = NDJSON | {"accept": "application/x-ndjson"}
PATH = "/corpora/library/documents"
LONG = "The cat sleeps on the warm windowsill all day. " + "Rivers carry sand and stones. " * 4


def as_lines(*records: object) -> bytes:
    return b"".join(orjson.dumps(record) + b"\n" for record in records)


def base64_of(vector: np.typing.NDArray[np.float32]) -> str:
    return base64.b64encode(vector.astype("<f4").tobytes()).decode()


@pytest.fixture
async def library(running: Running) -> Running:
    await running.fill()
    return running


async def test_ready_made_vectors_are_stored_as_they_are(
    library: Running, tiny_encoder: Encoder
) -> None:
    bread, river = tiny_encoder.encode(["bread", "river"])
    documents = [
        {"id": "list", "text": "says nothing", "vector": bread.tolist()},
        {"id": "base64", "text": "says nothing", "vector": base64_of(river)},
        {"id": "made", "text": "cat", "vector": None},
    ]
    space = tiny_encoder.manifest.space
    sent = await library.client.post(PATH, json={"documents": documents, "space": space})
    assert sent.json()["inserted"] == 3
    for id, text in (("list", "bread"), ("base64", "river"), ("made", "cat")):
        (hits,) = (await library.client.post("/similar", json={"inputs": text, "k": 1})).json()
        assert hits[0]["id"] == id
        assert hits[0]["score"] == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize(
    ("vector", "status"),
    [([1.0], 422), ("AAAAAA==", 422), ("AAAA", 400), ("not base64", 400), ([[1.0]], 400),
     ([True] * 32, 400), ({"a": 1}, 400), ("nan", 422), ("inf", 422)],
)  # fmt: skip
async def test_a_vector_that_cannot_be_stored_is_refused(
    library: Running, vector: object, status: int
) -> None:
    dimension = (await library.client.get("/corpora/library")).json()["dimension"]
    if vector in ("nan", "inf"):
        vector = base64_of(np.full(dimension, float(str(vector)), dtype=np.float32))
    documents = [{"id": "a", "text": "b"}, {"id": "c", "text": "d", "vector": vector}]
    sent = await library.client.post(PATH, json={"documents": documents})
    assert_problem(sent, status, field="documents[1].vector")
    lines = await library.client.post(PATH, content=as_lines(*documents), headers=NDJSON)
    assert (lines.json()["inserted"], lines.json()["errors"][0]["line"]) == (1, 2)


async def test_vectors_of_another_space_are_refused(library: Running) -> None:
    body: dict[str, object] = {"documents": [{"id": "a", "text": "b"}], "space": "another"}
    assert_problem(await library.client.post(PATH, json=body), 409, field="space")
    sent = await library.client.post(
        PATH, params={"space": "another"}, content=b"{}\n", headers=NDJSON
    )
    assert_problem(sent, 409, field="space")


async def test_a_stream_tells_of_each_batch_and_broken_line_as_they_come(library: Running) -> None:
    records: list[object] = [{"id": f"n{i}", "text": f"number {i}"} for i in range(1200)]
    records.insert(3, {"id": "broken"})
    answer = await library.client.post(PATH, content=as_lines(*records), headers=STREAMED)
    assert answer.headers["content-type"].startswith("application/x-ndjson")
    events = [orjson.loads(line) for line in answer.content.splitlines()]
    assert events[0]["line"] == 4
    assert [event["lines"] for event in events[1:-1]] == [514, 1026]
    assert (events[-1]["inserted"], events[-1]["failed"]) == (1200, 1)


@pytest.mark.parametrize(
    ("accept", "streamed"),
    [
        ("application/x-ndjson, application/json;q=0.5", True),
        ("application/x-ndjson, */*", True),
        ("application/json;q=0.1, application/jsonl", True),
        ("application/x-ndjson;q=0.5, application/json", False),
        ("application/x-ndjson;q=0", False),
        ("*/*", False),
    ],
)
async def test_a_stream_is_answered_where_it_is_liked_best(
    library: Running, accept: str, streamed: bool
) -> None:
    answer = await library.client.post(
        PATH, content=as_lines({"id": "a", "text": "b"}), headers=NDJSON | {"accept": accept}
    )
    kind = answer.headers["content-type"]
    assert kind == ("application/x-ndjson" if streamed else "application/json")


async def test_an_error_in_a_stream_is_its_last_line(library: Running) -> None:
    answer = await library.client.post(
        PATH, params={"model": "nope"}, content=as_lines({"id": "a", "text": "b"}), headers=STREAMED
    )
    (event,) = [orjson.loads(line) for line in answer.content.splitlines()]
    assert event["error"]["status"] == 404
    assert event["error"]["field"] == "model"


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_stream_that_breaks_off_says_what_was_stored(
    library: Running, streamed: bool
) -> None:
    library.state.settings.max_body_bytes = 4096
    records: list[object] = [DOCUMENTS[0], *({"id": f"n{i}", "text": f"{i}"} for i in range(1200))]
    records[7] = {"id": "broken"}
    lines = as_lines(*records, {"id": "long", "text": "x" * 5000})
    answer = await library.client.post(
        PATH, content=lines, headers=STREAMED if streamed else NDJSON
    )
    if streamed:
        problem = orjson.loads(answer.content.splitlines()[-1])["error"]
    else:
        problem = assert_problem(answer, 413, field="line 1202")
    assert problem["done"] == {"lines": 1201, "inserted": 1023, "updated": 1, "failed": 1}
    there = (await library.client.get("/corpora/library")).json()["documents"]
    assert there == len(DOCUMENTS) + 1023


async def test_one_broken_line_refuses_all_where_that_is_asked_for(library: Running) -> None:
    good = [{"id": f"n{i}", "text": f"number {i}"} for i in range(700)]
    params = {"broken": "refuse"}
    body = as_lines(*good) + b"{broken\n"
    refused = await library.client.post(PATH, params=params, content=body, headers=NDJSON)
    assert "Nothing was stored" in str(assert_problem(refused, 400, field="line 701")["remedy"])
    assert (await library.client.get("/corpora/library")).json()["documents"] == len(DOCUMENTS)
    stored = await library.client.post(PATH, params=params, content=as_lines(*good), headers=NDJSON)
    assert stored.json()["inserted"] == 700


async def test_export_goes_back_in_as_it_came_out(library: Running) -> None:
    before = (await library.client.post("/similar", json={"inputs": "cat", "k": 5})).json()
    out = await library.client.get("/corpora/library/export", params={"vectors": "true"})
    assert out.headers["content-type"].startswith("application/x-ndjson")
    records = [orjson.loads(line) for line in out.content.splitlines()]
    assert [record["id"] for record in records] == [d["id"] for d in DOCUMENTS]
    await library.client.delete("/corpora/library")
    await library.client.put("/corpora/library")
    back = await library.client.post(PATH, content=out.content, headers=NDJSON)
    assert back.json()["inserted"] == len(DOCUMENTS)
    assert back.headers.get("x-compute-tokens") is None, "nothing was encoded again"
    after = (await library.client.post("/similar", json={"inputs": "cat", "k": 5})).json()
    assert after == before


async def test_export_by_language_and_filter_and_without_vectors(library: Running) -> None:
    out = await library.client.get("/corpora/library/export", params={"language": "ja"})
    assert [orjson.loads(line) for line in out.content.splitlines()] == [DOCUMENTS[2]]
    params = {"filter": '{"topic": "food"}'}
    out = await library.client.get("/corpora/library/export", params=params)
    assert len(out.content.splitlines()) == 2
    refused = await library.client.get("/corpora/library/export", params={"filter": "{"})
    assert_problem(refused, 400)
    assert_problem(await library.client.get("/corpora/nope/export"), 404)


async def test_long_documents_are_answered_with_the_passage(running: Running) -> None:
    made = await running.client.put("/corpora/long", json={"passages": {"words": 10}})
    assert made.json()["passages"] == {"words": 10, "overlap_sentences": 1}
    documents = [{"id": "long", "text": LONG}, {"id": "short", "text": "Fresh bread."}]
    path = "/corpora/long/documents"
    for sent in (
        await running.client.post(path, json={"documents": documents}),
        await running.client.post(path, content=as_lines(*documents), headers=NDJSON),
    ):
        assert sent.status_code == 200, sent.text
    query = {"corpus": "long", "inputs": "Rivers carry sand and stones."}
    (hits,) = (await running.client.post("/similar", json=query)).json()
    assert [hit["id"] for hit in hits] == ["long", "short"]
    assert hits[0]["score"] > 0.99
    start, end = hits[0]["passage"]["start"], hits[0]["passage"]["end"]
    assert LONG[start:end] == hits[0]["passage"]["text"]
    assert hits[0]["passage"]["text"].startswith("Rivers")
    assert "passage" not in hits[1]


async def test_a_document_of_any_number_of_passages_is_one_document(running: Running) -> None:
    running.state.settings.max_inputs = 8
    await running.client.put("/corpora/long", json={"passages": {"words": 10}})
    # A word of a hundred pieces is more than the model reads, and a passage can be.
    cut = "cat" * 400
    documents = [
        {"id": "long", "text": LONG * 8},
        {"id": "cut", "text": f"{cut}. {LONG * 2} {cut}. {LONG} {cut}."},
        {"id": "short", "text": "Fresh bread."},
    ]
    path = "/corpora/long/documents"
    for counted, sent in (
        ("inserted", await running.client.post(path, json={"documents": documents})),
        ("updated", await running.client.post(path, content=as_lines(*documents), headers=NDJSON)),
    ):
        assert sent.status_code == 200, sent.text
        assert (sent.json()[counted], sent.json()["truncated"]) == (3, 1)
        assert sent.headers["x-truncated"] == "1"
        assert sent.headers["x-truncated-count"] == "1"
    vectors = running.state.resources.corpora.get("long").count_vectors()
    assert vectors > 8 * 3
    assert await running.metric("interlingua_index_vectors", corpus="long") == vectors


async def test_a_policy_out_of_range_is_refused(running: Running) -> None:
    refused = await running.client.put("/corpora/long", json={"passages": {"words": 1}})
    assert_problem(refused, 422, field="passages.words")


async def test_a_misspelt_parameter_is_refused(running: Running) -> None:
    await running.fill()
    lines = as_lines({"id": "a", "text": "b"})
    answer = await running.client.post(
        PATH, params={"broke": "refuse"}, content=lines, headers=NDJSON
    )
    assert "broken, model, space" in str(assert_problem(answer, 422, field="broke")["remedy"])
