from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from urllib.parse import quote

import orjson
import pytest

from tests.service.api.running import DOCUMENTS, Running, assert_problem

NDJSON = {"content-type": "application/x-ndjson"}
PATH = "/corpora/library/documents"


@pytest.fixture
async def library(running: Running) -> Running:
    await running.fill()
    return running


def as_lines(*records: object) -> bytes:
    return b"".join(orjson.dumps(record) + b"\n" for record in records)


async def test_upserting_counts_new_and_replaced(library: Running) -> None:
    changed = DOCUMENTS[0] | {"text": "A cat is asleep."}
    fresh = {"id": "new", "text": "A river.", "language": None, "metadata": None}
    answer = (await library.client.post(PATH, json={"documents": [changed, fresh]})).json()
    assert answer == {"inserted": 1, "updated": 1, "truncated": 0, "failed": 0, "errors": []}
    got = (await library.client.get(f"{PATH}/cat-en")).json()
    assert got == changed
    (hits,) = (
        await library.client.post("/similar", json={"inputs": "A cat is asleep.", "k": 1})
    ).json()
    assert hits[0]["id"] == "cat-en"
    name = "interlingua_documents_written_total"
    assert await library.metric(name, corpus="library") == len(DOCUMENTS) + 2


async def test_what_was_cut_is_counted_and_named(library: Running) -> None:
    documents = [{"id": "short", "text": "cat"}, {"id": "long", "text": "cat " * 500}]
    response = await library.client.post(PATH, json={"documents": documents})
    assert response.json()["truncated"] == 1
    assert response.headers["x-truncated"] == "1"


async def test_an_id_with_a_slash_is_found_and_deleted(library: Running) -> None:
    for path in (f"{PATH}/bread/de", f"{PATH}/{quote('bread/de', safe='')}"):
        assert (await library.client.get(path)).json()["id"] == "bread/de"
    assert (await library.client.delete(f"{PATH}/bread/de")).status_code == 204
    for method in ("GET", "DELETE"):
        gone = await library.client.request(method, f"{PATH}/bread/de")
        assert assert_problem(gone, 404, field="id")["given"] == "'bread/de'"


async def test_paging_gives_each_document_once(library: Running) -> None:
    seen: list[str] = []
    params: dict[str, str | int] = {"limit": 2}
    for _ in range(4):
        page = (await library.client.get(PATH, params=params)).json()
        seen += [document["id"] for document in page["documents"]]
        if page["next_cursor"] is None:
            break
        params["cursor"] = page["next_cursor"]
    assert sorted(seen) == sorted(str(d["id"]) for d in DOCUMENTS)


async def test_listing_by_language_and_filter(library: Running) -> None:
    async def ids(**params: str) -> list[str]:
        page = (await library.client.get(PATH, params=params)).json()
        return sorted(document["id"] for document in page["documents"])

    assert await ids(language="ja") == ["cat-ja"]
    assert await ids(filter='{"topic": "food"}') == ["bread-en", "bread/de"]


async def test_deleting_by_ids_and_by_filter(library: Running) -> None:
    async def delete(body: object) -> object:
        response = await library.client.request("DELETE", PATH, json=body)
        assert response.status_code == 200, response.text
        return response.json()

    assert await delete({"ids": ["cat-en", "nope"]}) == {"deleted": 1}
    assert await delete({"filter": {"topic": "food"}}) == {"deleted": 2}
    (hits,) = (await library.client.post("/similar", json={"inputs": "cat"})).json()
    assert {hit["id"] for hit in hits} == {"cat-de", "cat-ja"}


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({}, 400, "documents"),
        ({"documents": []}, 400, "documents"),
        ({"documents": {"id": "a"}}, 400, "documents"),
        ({"documents": ["text"]}, 400, "documents[0]"),
        ({"documents": [{"id": "a"}]}, 400, "documents[0].text"),
        ({"documents": [{"id": "a", "text": "b"}, {"id": 3, "text": "c"}]}, 422, "documents[1].id"),
        ({"documents": [{"id": "a", "text": ""}]}, 422, "documents[0].text"),
        ({"documents": [{"id": "a", "text": "b", "language": "German"}]}, 422,
         "documents[0].language"),
        ({"documents": [{"id": "a", "text": "b", "metadata": {"x": {"y": 1}}}]}, 422,
         "documents[0].metadata.x"),
        ({"documents": [{"id": "a", "text": "b"}, {"id": "a", "text": "c"}]}, 422, None),
        ({"documents": [{"id": "a", "text": "b"}] * 2049}, 413, "documents"),
        ({"documents": [{"id": "a", "text": "b"}], "model": "nope"}, 404, "model"),
    ],
)  # fmt: skip
async def test_what_cannot_be_stored_is_refused_whole(
    library: Running, body: dict[str, object], status: int, field: str | None
) -> None:
    assert_problem(await library.client.post(PATH, json=body), status, field=field)
    assert (await library.client.get("/corpora/library")).json()["documents"] == len(DOCUMENTS)


@pytest.mark.parametrize(
    ("document", "field", "given"),
    [
        ({"id": "a", "text": 5}, "text", "5"),
        ({"id": "a", "text": " "}, "text", "' '"),
        ({"id": "a", "text": None}, "text", "null"),
        ({"id": None, "text": "b"}, "id", "null"),
        ({"id": "a", "text": "b", "vector": [1.5]}, "vector", "[1.5]"),
    ],
)
async def test_a_value_that_cannot_be_stored_is_quoted(
    library: Running, document: dict[str, object], field: str, given: str
) -> None:
    response = await library.client.post(PATH, json={"documents": [document]})
    assert assert_problem(response, 422, field=f"documents[0].{field}")["given"] == given


@pytest.mark.parametrize("name", ["model", "space", "broken", "moddel"])
async def test_a_parameter_beside_a_json_body_is_refused(library: Running, name: str) -> None:
    body = {"documents": [{"id": "new", "text": "A river."}]}
    response = await library.client.post(PATH, json=body, params={name: "refuse"})
    remedy = str(assert_problem(response, 422, field=name)["remedy"])
    assert ("body" in remedy) == (name in ("model", "space"))
    assert_problem(await library.client.get(f"{PATH}/new"), 404)


@pytest.mark.parametrize("written", ["9223372036854775808", "18446744073709551617", "-1e19"])
async def test_an_integer_beyond_64_bits_is_refused_before_it_becomes_another(
    library: Running, written: str
) -> None:
    record = f'{{"id": "a", "text": "b", "metadata": {{"n": {written}}}}}'
    headers = {"content-type": "application/json"}
    body = f'{{"documents": [{record}]}}'
    sent = await library.client.post(PATH, content=body, headers=headers)
    assert_problem(sent, 422, field="documents[0].metadata.n")
    body = f'{{"inputs": "cat", "filter": {{"n": {written}}}}}'
    asked = await library.client.post("/similar", content=body, headers=headers)
    assert_problem(asked, 422, field="filter.n")


@pytest.mark.parametrize(
    ("params", "status", "field"),
    [
        ({"limit": "0"}, 422, "limit"),
        ({"limit": "x"}, 400, "limit"),
        ({"cursor": "nonsense"}, None, None),
        ({"filter": "[1]"}, 400, "filter"),
        ({"filter": "{"}, 400, "filter"),
        ({"filter": '{"topic": {"nope": 1}}'}, 422, None),
    ],
)
async def test_listing_refuses_what_it_does_not_understand(
    library: Running, params: dict[str, str], status: int | None, field: str | None
) -> None:
    response = await library.client.get(PATH, params=params)
    assert response.status_code in (400, 422)
    assert_problem(response, status or response.status_code, field=field)


@pytest.mark.parametrize(
    "body", [{}, {"ids": []}, {"filter": {}}, {"ids": ["a"], "filter": {"a": 1}}]
)
async def test_deleting_needs_to_know_what(library: Running, body: dict[str, object]) -> None:
    response = await library.client.request("DELETE", PATH, json=body)
    assert_problem(response, response.status_code)
    assert response.status_code in (400, 422)
    assert (await library.client.get("/corpora/library")).json()["documents"] == len(DOCUMENTS)


async def test_an_unknown_corpus_is_404_everywhere(running: Running) -> None:
    client = running.client
    path = "/corpora/nope/documents"
    assert_problem(await client.post(path, json={"documents": [DOCUMENTS[0]]}), 404)
    assert_problem(await client.post(path, content=b"{}\n", headers=NDJSON), 404)
    assert_problem(await client.get(path), 404)
    assert_problem(await client.get(f"{path}/a"), 404)
    assert_problem(await client.request("DELETE", path, json={"ids": ["a"]}), 404)


async def test_lines_are_stored_and_broken_ones_reported_by_number(library: Running) -> None:
    body = (
        as_lines({"id": "a", "text": "one"})
        + b"\r\n  \n"
        + b'{"id": "b", "text": \n'
        + as_lines({"id": "c"}, {"id": "d", "text": "four"})
        + b'{"id": "e", "text": "\\ud800"}\n'
        + b"\xff\xfe\n"
        + orjson.dumps({"id": "f", "text": "no line feed after the last"})
    )
    response = await library.client.post(PATH, content=body, headers=NDJSON)
    answer = response.json()
    assert (answer["inserted"], answer["updated"], answer["failed"]) == (3, 0, 4)
    assert [error["line"] for error in answer["errors"]] == [4, 5, 7, 8]
    assert answer["errors"][1]["field"] == "document.text"


async def test_lines_behind_a_byte_order_mark(library: Running) -> None:
    lines = b'\xef\xbb\xbf{"id": "first", "text": "a"}\n{"id": "second", "text": "b"}\n'
    answer = await library.client.post(PATH, content=lines, headers=NDJSON)
    assert answer.json()["inserted"] == 2


async def test_a_line_for_an_id_seen_before_replaces_it(library: Running) -> None:
    body = as_lines({"id": "a", "text": "one"}, {"id": "a", "text": "two"})
    answer = (await library.client.post(PATH, content=body, headers=NDJSON)).json()
    assert (answer["inserted"], answer["updated"]) == (1, 1)
    assert (await library.client.get(f"{PATH}/a")).json()["text"] == "two"


async def test_a_body_of_broken_lines_only_is_refused(library: Running) -> None:
    response = await library.client.post(PATH, content=b"what\nis\nthis\n", headers=NDJSON)
    assert_problem(response, 422, field="line 1")


async def test_a_stream_may_be_larger_than_any_body_and_comes_in_any_pieces(
    library: Running,
) -> None:
    limit = library.state.settings.max_body_bytes
    library.state.settings.max_body_bytes = 4096
    count = 2000

    async def pieces() -> AsyncIterator[bytes]:
        text = as_lines(*({"id": f"n{i}", "text": f"number {i}"} for i in range(count)))
        for start in range(0, len(text), 777):
            yield text[start : start + 777]
            await asyncio.sleep(0)

    response = await library.client.post(PATH, content=pieces(), headers=NDJSON)
    library.state.settings.max_body_bytes = limit
    assert response.json()["inserted"] == count
    name = "interlingua_documents_written_total"
    assert await library.metric(name, corpus="library") == len(DOCUMENTS) + count


async def test_a_line_past_the_limit_is_refused(library: Running) -> None:
    library.state.settings.max_body_bytes = 4096
    body = as_lines({"id": "a", "text": "one"}, {"id": "b", "text": "x" * 5000})
    response = await library.client.post(PATH, content=body, headers=NDJSON)
    assert_problem(response, 413, field="line 2")


async def test_a_full_queue_slows_a_stream_instead_of_breaking_it(
    library: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    from service.errors import OverloadedError
    from service.inference.engine import Engine

    real, refusals = Engine.embed, iter([True, True, False])

    async def embed(self: Engine, *args: object) -> object:
        if next(refusals, False):
            raise OverloadedError("full", retry_after_seconds=0.01)
        return await real(self, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(Engine, "embed", embed)
    body = as_lines({"id": "a", "text": "one"})
    answer = (await library.client.post(PATH, content=body, headers=NDJSON)).json()
    assert answer["inserted"] == 1
    assert next(refusals, None) is None
