"""A corpus that declares its metadata fields, over HTTP."""

from __future__ import annotations

import json

from tests.service.api.running import Running, assert_problem

FIELDS = {"year": "integer", "topic": "string"}
GOOD = {
    "id": "a",
    "text": "Rivers carry sand.",
    "metadata": {"year": 1999, "topic": ["sea", "sand"]},
}


async def test_they_are_made_described_and_kept_to(running: Running) -> None:
    client = running.client
    made = await client.put("/corpora/library", json={"fields": FIELDS})
    assert made.status_code == 201, made.text
    assert made.json()["fields"] == FIELDS
    assert (await client.put("/corpora/library", json={"fields": FIELDS})).status_code == 200
    other = await client.put("/corpora/library", json={"fields": {"year": "string"}})
    assert_problem(other, 409)
    unknown = await client.put("/corpora/other", json={"fields": {"year": "date"}})
    assert assert_problem(unknown, 422, field="fields.year")["given"] == "'date'"
    wrong = {"id": "b", "text": "Ice floats.", "metadata": {"year": "1999"}}
    refused = await client.post("/corpora/library/documents", json={"documents": [GOOD, wrong]})
    problem = assert_problem(refused, 422, field="documents[1].metadata.year")
    assert problem["given"] == "'1999'"
    assert "integer" in str(problem["remedy"])
    query = {"inputs": "sand", "corpus": "library", "filter": {"yaer": 1999}}
    searched = await client.post("/similar", json=query)
    assert "year (integer)" in str(assert_problem(searched, 422, field="filter")["remedy"])


async def test_a_line_that_breaks_them_is_told_and_the_rest_goes_on(running: Running) -> None:
    await running.client.put("/corpora/library", json={"fields": FIELDS})
    lines = [GOOD, {"id": "b", "text": "Ice floats.", "metadata": {"yaer": 1999}}]
    body = "\n".join(map(json.dumps, lines)).encode()
    headers = {"content-type": "application/x-ndjson"}
    address = "/corpora/library/documents"
    refused = await running.client.post(address + "?broken=refuse", content=body, headers=headers)
    problem = assert_problem(refused, 422, field="line 2.metadata.yaer")
    assert "year (integer)" in str(problem["remedy"])
    assert "broken=skip" in str(problem["remedy"])
    alone = await running.client.post(address, content=json.dumps(lines[1]), headers=headers)
    assert_problem(alone, 422, field="line 1.metadata.yaer")
    assert (await running.client.get("/corpora/library")).json()["documents"] == 0
    stored = await running.client.post(address, content=body, headers=headers)
    assert stored.json()["inserted"] == 1
    (error,) = stored.json()["errors"]
    assert (error["line"], error["field"]) == (2, "document.metadata.yaer")
