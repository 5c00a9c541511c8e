from __future__ import annotations

import re

import pytest

from tests.service.api.running import Running, assert_problem


@pytest.mark.parametrize("path", ["/", "/docs"])
async def test_a_page_needs_nothing_from_elsewhere(running: Running, path: str) -> None:
    response = await running.client.get(path)
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    policy = response.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe-inline" not in policy
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers["referrer-policy"] == "no-referrer"
    assert response.headers["cross-origin-opener-policy"] == "same-origin"
    assert not re.search(r"<script(?![^>]*src=)|<style|style=|onclick|https?://", response.text)
    for asset in re.findall(r'(?:src|href)="(/assets/[^"]+)"', response.text):
        found = await running.client.get(asset)
        assert found.status_code == 200
        assert "http://" not in found.text.replace("http://www.w3.org", "")
        assert found.headers["content-type"].startswith(
            ("text/css", "text/javascript", "image/svg+xml")
        )


@pytest.mark.parametrize("name", ["nothing.js", "..%2fpage.html", "page.html", "%2e%2e/app.py"])
async def test_only_assets_are_served(running: Running, name: str) -> None:
    assert_problem(await running.client.get(f"/assets/{name}"), 404)
