from __future__ import annotations

import re
from collections.abc import Iterator

from service.api.openapi import REQUESTS
from tests.service.api.running import Running

DESIGNED = {
    "/": {"post"},
    "/embed": {"post"},
    "/projection": {"post"},
    "/similarity": {"post"},
    "/rerank": {"post"},
    "/v1/rerank": {"post"},
    "/similar": {"get", "post"},
    "/classify": {"post"},
    "/predict": {"post"},
    "/corpora": {"get"},
    "/corpora/{name}": {"get", "put", "delete"},
    "/corpora/{name}/documents": {"get", "post", "delete"},
    "/corpora/{name}/export": {"get"},
    "/corpora/{name}/reencode": {"post"},
    "/corpora/{name}/documents/{id}": {"get", "delete"},
    "/classifiers": {"get"},
    "/classifiers/{name}": {"get", "put", "delete"},
    "/classifiers/{name}/versions/{version}": {"delete"},
    "/classifiers/{name}/versions/{version}/activate": {"post"},
    "/jobs": {"get"},
    "/jobs/{id}": {"get", "delete"},
    "/v1/embeddings": {"post"},
    "/v1/models": {"get"},
    "/v1/models/{name}": {"get"},
    "/tokenize": {"post"},
    "/decode": {"post"},
    "/models": {"get"},
    "/info": {"get"},
    "/health": {"get"},
    "/health/live": {"get"},
    "/health/ready": {"get"},
    "/health/startup": {"get"},
    "/metrics": {"get"},
}


def walk(node: object) -> Iterator[dict[str, object]]:
    if isinstance(node, dict):
        yield node
        for child in node.values():
            yield from walk(child)
    elif isinstance(node, list):
        for child in node:
            yield from walk(child)


async def test_every_address_is_there(running: Running) -> None:
    paths = (await running.client.get("/openapi.json")).json()["paths"]
    assert {path: set(methods) for path, methods in paths.items()} == DESIGNED


async def test_every_reference_leads_somewhere(running: Running) -> None:
    document = (await running.client.get("/openapi.json")).json()
    schemas = document["components"]["schemas"]
    references = [str(node["$ref"]) for node in walk(document) if "$ref" in node]
    assert references
    assert {reference.rpartition("/")[2] for reference in references} <= set(schemas)


async def test_every_route_says_what_it_does_and_how_it_fails(running: Running) -> None:
    document = (await running.client.get("/openapi.json")).json()
    identifiers = set()
    for path, methods in document["paths"].items():
        for method, route in methods.items():
            where = (method, path)
            assert route["description"], where
            assert "HTTPValidationError" not in str(route), where
            identifiers.add(route["operationId"])
            if path.startswith("/v1"):
                assert "OpenAIError" in str(route["responses"]["400"]), where
            elif path.startswith("/health"):
                assert "application/problem+json" in route["responses"]["503"]["content"], where
            elif route["tags"] != ["health"]:
                assert "application/problem+json" in route["responses"]["422"]["content"], where
    assert len(identifiers) == sum(map(len, document["paths"].values()))


async def test_every_field_is_described_and_every_request_has_an_example(running: Running) -> None:
    schemas = (await running.client.get("/openapi.json")).json()["components"]["schemas"]
    for model in REQUESTS:
        schema = schemas[model.__name__]
        assert schema["examples"], model
        for name, field in schema["properties"].items():
            assert field.get("description"), (model, name)


async def test_the_examples_are_requests_that_work(running: Running) -> None:
    await running.fill("demo")
    document = (await running.client.get("/openapi.json")).json()
    tried = 0
    for path, methods in document["paths"].items():
        for method, route in methods.items():
            content = route.get("requestBody", {}).get("content", {}).get("application/json")
            if content is None:
                continue
            schema = document["components"]["schemas"][content["schema"]["$ref"].split("/")[-1]]
            for example in schema["examples"]:
                fitting = {"classifier": None, "dimensions": 8}
                body = example | {n: v for n, v in fitting.items() if n in example}
                address = re.sub(r"\{name\}", "made" if method == "put" else "demo", path)
                response = await running.client.request(method.upper(), address, json=body)
                assert response.status_code in (200, 201, 202, 409), (method, path, response.text)
                tried += 1
    assert tried >= len(REQUESTS)
