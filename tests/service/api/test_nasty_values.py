"""Every field of every request, with every value that has ever broken a service."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import orjson

from service.api.openapi import REQUESTS
from tests.service.api.running import Running


def nested(depth: int) -> list[object]:
    value: list[object] = []
    for _ in range(depth):
        value = [value]
    return value


NASTY: list[object] = [
    None, True, False, 0, -1, 2**63 - 1, -(2**63), 2**64 - 1, 1e308, -0.0, 1e-320, "", " ", "\0",
    "a\0b", "\u202e", "\ufffe", "../../etc/passwd", "'; DROP TABLE documents; --", "%s%n{}", "*",
    "x" * 10_000, [], [[]], [None], [True], [1.5], [""], ["\0"], ["a", 1], {}, {"": ""},
    {"$ne": 1}, {"a": {"b": {"c": []}}}, {"a\0": 1}, {'"': 1}, {"or": []}, {"and": [{}]},
    {"not": None}, {"a": {"gte": "x"}}, {"a": {"in": []}}, nested(200), {"a": nested(200)},
]  # fmt: skip


def with_each_value_replaced(body: object) -> Iterator[bytes]:
    """Give `body` with each nasty value in each place, one place at a time."""
    places: list[tuple[str | int, ...]] = [()]
    seen = 0
    while seen < len(places):
        place = places[seen]
        seen += 1
        node: Any = body
        for key in place:
            node = node[key]
        if isinstance(node, dict):
            places += [(*place, key) for key in node]
        elif isinstance(node, list):
            places += [(*place, 0)]
    for place in places:
        for nasty in NASTY:
            if not place:
                yield orjson.dumps(nasty)
                continue
            copy: Any = orjson.loads(orjson.dumps(body))
            node = copy
            for key in place[:-1]:
                node = node[key]
            node[place[-1]] = nasty
            yield orjson.dumps(copy)


async def test_none_of_them_breaks_it(running: Running) -> None:
    await running.fill("demo")
    document = (await running.client.get("/openapi.json")).json()
    schemas = document["components"]["schemas"]
    tried = 0
    for path, methods in document["paths"].items():
        address = re.sub(r"\{name\}", "demo", path)
        for method, route in methods.items():
            content = route.get("requestBody", {}).get("content", {}).get("application/json")
            if content is None or path == "/":
                continue
            schema = schemas[content["schema"]["$ref"].split("/")[-1]]
            whole = dict.fromkeys(schema["properties"]) | schema["examples"][0]
            for body in with_each_value_replaced(whole):
                response = await running.client.request(
                    method.upper(),
                    address,
                    content=body,
                    headers={"content-type": "application/json"},
                )
                assert response.status_code < 500, (method, path, body[:300], response.text)
                if response.status_code >= 400:
                    answer = response.json()
                    assert answer.get("detail") or answer["error"]["message"]
                tried += 1
    assert tried > 100 * len(REQUESTS)


async def test_nor_in_an_address(running: Running) -> None:
    await running.fill("demo")
    odd = [
        "%00",
        "%ff%fe",
        "%ed%a0%80",
        "..%2f..",
        "%2e%2e",
        "a%0d%0ab",
        "x" * 5000,
        "%F0%9F%90%B1",
    ]
    for value in odd:
        for method, path in (
            ("GET", f"/corpora/{value}"),
            ("PUT", f"/corpora/{value}"),
            ("DELETE", f"/corpora/{value}"),
            ("GET", f"/corpora/demo/documents/{value}"),
            ("DELETE", f"/corpora/demo/documents/{value}"),
            ("GET", f"/classifiers/{value}"),
            ("GET", f"/assets/{value}"),
            ("GET", f"/similar?q={value}&k=1"),
            ("GET", f"/similar?q=a&languages={value}"),
            ("GET", f"/similar?q=a&corpus={value}"),
            ("GET", f"/corpora/demo/documents?cursor={value}"),
            ("GET", f"/corpora/demo/documents?filter={value}"),
            ("GET", f"/corpora/demo/documents?language={value}"),
            ("GET", f"/{value}"),
        ):
            response = await running.client.request(method, path)
            assert response.status_code < 500, (method, path, response.text)
