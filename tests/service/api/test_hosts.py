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
        assert_problem(response, 403, field="host")


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
