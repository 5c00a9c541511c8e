from __future__ import annotations

from pathlib import Path

import pytest

from tests.service.api.running import Running, assert_problem, run_app, tiny_settings

OWN = ["localhost", "localhost:8000", "127.0.0.1", "127.0.0.1:80", "[::1]:8000", "LocalHost",
       "app.localhost:1"]  # fmt: skip
OTHERS = ["rebound.example.org", "rebound.example.org:8000", "", "localhost.example.org",
          "127.0.0.1.example.org:8000", "evil-localhost"]  # fmt: skip


async def test_this_machines_names_are_answered(running: Running) -> None:
    for host in OWN:
        response = await running.client.get("/models", headers={"host": host})
        assert response.status_code == 200, host


@pytest.mark.parametrize("path", ["/models", "/", "/metrics", "/openapi.json"])
async def test_names_of_other_sites_are_not(running: Running, path: str) -> None:
    for host in OTHERS:
        response = await running.client.get(path, headers={"host": host})
        problem = assert_problem(response, 403, field="host")
        assert "key" not in str(problem["title"]), "there is none"


@pytest.mark.parametrize(
    "changes", [{"api_keys": "one"}, {"open_to_network": True}, {"host": "10.0.0.4"}]
)
async def test_where_keys_guard_it_names_do_not_matter(
    tiny_bundle: Path, tmp_path: Path, changes: dict[str, object]
) -> None:
    async with run_app(tiny_settings(tiny_bundle, tmp_path, **changes)) as running:
        headers = {"host": "embed.example.org", "authorization": "Bearer one"}
        response = await running.client.get("/models", headers=headers)
        assert response.status_code == 200


ACTIVATE = "/classifiers/any/versions/1/activate"
"""What a page could send without being asked for a content type: it has no body."""

OTHER_SITES = [
    {"sec-fetch-site": "cross-site"},
    {"sec-fetch-site": "same-site", "origin": "http://localhost:3000"},
    {"origin": "https://evil.example"},
    {"origin": "http://localhost.evil.example:8000"},
    {"origin": "null"},
]
OWN_SITE = [
    {},  # a program
    {"sec-fetch-site": "same-origin", "origin": "http://127.0.0.1:8000"},
    {"sec-fetch-site": "none"},
    {"origin": "http://localhost:8000"},
    {"origin": "http://[::1]:8000"},
]


@pytest.mark.parametrize("headers", OTHER_SITES)
async def test_pages_of_other_sites_change_nothing(
    running: Running, headers: dict[str, str]
) -> None:
    for method, path in (("POST", ACTIVATE), ("PUT", "/corpora/theirs"), ("DELETE", "/jobs/any")):
        response = await running.client.request(method, path, headers=headers)
        assert_problem(response, 403, field=next(iter(headers)))
    assert (await running.client.get("/corpora", headers=headers)).json() == {"corpora": []}
    assert await running.metric("interlingua_rejected_total", reason="forbidden") == 3


@pytest.mark.parametrize("headers", OWN_SITE)
async def test_its_own_page_and_programs_do(running: Running, headers: dict[str, str]) -> None:
    assert_problem(await running.client.post(ACTIVATE, headers=headers), 404)
    assert (await running.client.put("/corpora/ours", headers=headers)).status_code == 201


async def test_where_a_proxy_may_stand_before_it_its_name_does_not_matter(
    tiny_bundle: Path, tmp_path: Path
) -> None:
    async with run_app(tiny_settings(tiny_bundle, tmp_path, open_to_network=True)) as running:
        named = {"origin": "https://embed.example.org"}
        assert_problem(await running.client.post(ACTIVATE, headers=named), 404)
        foreign = named | {"sec-fetch-site": "cross-site"}
        assert_problem(await running.client.post(ACTIVATE, headers=foreign), 403)


async def test_where_keys_guard_it_other_sites_may_ask_with_one(
    tiny_bundle: Path, tmp_path: Path
) -> None:
    async with run_app(tiny_settings(tiny_bundle, tmp_path, api_keys="one")) as running:
        headers = OTHER_SITES[0] | {"authorization": "Bearer one"}
        assert_problem(await running.client.post(ACTIVATE, headers=headers), 404)
