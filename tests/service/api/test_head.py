from __future__ import annotations

import pytest

from tests.service.api.running import Running


@pytest.mark.parametrize(
    "path", ["/", "/docs", "/assets/page.js", "/health", "/health/ready", "/info", "/corpora"]
)
async def test_what_can_be_got_can_be_asked_for_its_headers(running: Running, path: str) -> None:
    whole = await running.client.get(path)
    head = await running.client.head(path)
    assert (head.status_code, head.content) == (200, b"")
    for name in ("content-type", "content-length"):
        assert head.headers[name] == whole.headers[name]


async def test_it_is_refused_as_get_is(running: Running) -> None:
    head = await running.client.head("/corpora/nothing")
    assert (head.status_code, head.content) == (404, b"")
    assert head.headers["content-type"] == "application/problem+json"
    assert (await running.client.head("/embed")).status_code == 405


async def test_it_is_counted_with_its_route(running: Running) -> None:
    await running.client.head("/corpora/nothing")
    name = "interlingua_requests_total"
    assert await running.metric(name, route="/corpora/{name}", status="404") == 1
