from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from pydantic import SecretStr

from service.api.auth import check_key
from service.errors import AuthenticationError
from service.security.grants import EVERYTHING
from service.security.keys import Keys
from service.settings import Settings
from tests.service.api.running import Running, assert_problem, run_app, tiny_settings


@pytest.fixture
async def locked(tiny_bundle: Path, tmp_path: Path) -> AsyncIterator[Running]:
    settings = tiny_settings(tiny_bundle, tmp_path, api_keys=[SecretStr("one"), SecretStr("zwölf")])
    async with run_app(settings) as running:
        yield running


async def test_each_key_opens(locked: Running) -> None:
    for header in (b"Bearer one", b"bearer one", b"one", "Bearer zwölf".encode("latin-1")):
        response = await locked.client.get("/models", headers={b"authorization": header})
        assert response.status_code == 200, header


@pytest.mark.parametrize("header", [None, "", "Bearer", "Bearer ", "Bearer two", "Basic one", "on"])
async def test_nothing_else_does(locked: Running, header: str | None) -> None:
    headers = {} if header is None else {"authorization": header}
    response = await locked.client.get("/models", headers=headers)
    assert_problem(response, 401, field="authorization")
    assert response.headers["www-authenticate"] == "Bearer"
    assert "one" not in response.text.replace('"one"', "")
    assert await locked.metric("interlingua_rejected_total", reason="unauthenticated") == 1


async def test_the_body_is_not_read_before_the_key(locked: Running) -> None:
    read = False

    async def body() -> AsyncIterator[bytes]:
        nonlocal read
        read = True
        yield b"{}"

    headers = {"content-type": "application/json"}
    for path in ("/embed", "/similar", "/classify", "/v1/embeddings", "/corpora/a/documents"):
        response = await locked.client.post(path, content=body(), headers=headers)
        assert response.status_code == 401
    assert not read


async def test_every_route_is_either_known_to_be_public_or_locked(locked: Running) -> None:
    public = {"/health", "/health/live", "/health/ready", "/health/startup", "/metrics"}
    paths = (await locked.client.get("/openapi.json")).json()["paths"]
    for path, methods in paths.items():
        for method in methods:
            response = await locked.client.request(
                method.upper(), path.replace("{", "").replace("}", "")
            )
            assert (response.status_code == 401) == (path not in public), (method, path)


async def test_pages_and_probes_stay_public(locked: Running) -> None:
    for path in ("/", "/docs", "/openapi.json", "/assets/page.js", "/health/ready", "/metrics"):
        assert (await locked.client.get(path)).status_code == 200, path


def test_without_keys_all_are_let_in() -> None:
    assert check_key(Keys(), None) == EVERYTHING


def test_a_key_is_never_shown(tiny_bundle: Path, tmp_path: Path) -> None:
    settings: Settings = tiny_settings(tiny_bundle, tmp_path, api_keys="secret-one,secret-two")
    assert "secret" not in repr(settings)
    with pytest.raises(AuthenticationError) as caught:
        check_key(Keys(["right-key"]), "Bearer wrong-key")
    assert "wrong-key" not in str(caught.value)
