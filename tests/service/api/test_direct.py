"""The short way answers what can be made of the request alone, and leaves the rest to FastAPI."""

from __future__ import annotations

from typing import Annotated

import pytest
from fastapi import APIRouter, Depends, FastAPI, Header, Request
from fastapi.testclient import TestClient
from starlette.responses import PlainTextResponse, Response

from service.api.auth import routes_of
from service.api.direct import DirectMiddleware, Make
from service.app import create_app
from service.errors import InputError
from service.settings import Settings

router = APIRouter()


async def shout(request: Request, mark: Annotated[str, Header(alias="x-mark")] = "!") -> str:
    return (await request.body()).decode().upper() + mark


@router.post("/shout")
async def shouted(http: Request, text: Annotated[str, Depends(shout)]) -> PlainTextResponse:
    return PlainTextResponse(f"{text} {http.scope['route'].path}")


@router.post("/typed")
async def typed(times: int) -> PlainTextResponse:
    return PlainTextResponse(str(times))


@router.post("/values")
async def values(text: Annotated[str, Depends(shout)]) -> dict[str, str]:
    return {"text": text}


@router.post("/paths/{name}")
async def by_path(request: Request) -> Response:
    return PlainTextResponse(request.path_params["name"])


@router.get("/shout")
async def read(request: Request) -> Response:
    return PlainTextResponse(request.method)


async def ignore(request: Request) -> None:
    request.state.asked = True


async def tell(request: Request, error: Exception) -> Response:
    return PlainTextResponse(f"{request.url.path}: {error}", 418)


def app_with(before: Make) -> tuple[FastAPI, DirectMiddleware]:
    app = FastAPI()
    app.include_router(router)
    return app, DirectMiddleware(app, routes=routes_of(router), before=before, problem=tell)


def test_those_that_need_more_than_the_request_have_none() -> None:
    _, direct = app_with(ignore)
    assert direct.paths == {"/shout"}


@pytest.mark.parametrize("headers", [{}, {"x-mark": "?"}])
def test_an_answer_is_the_same_both_ways(headers: dict[str, str]) -> None:
    answers = []
    for app in app_with(ignore):
        with TestClient(app) as client:
            answers.append(client.post("/shout", content="hello", headers=headers))
            assert client.get("/shout").text == "GET"
            assert client.put("/shout").status_code == 405
            assert client.post("/values", content="a").json() == {"text": "A!"}
    assert answers[0].text == answers[1].text == f"HELLO{headers.get('x-mark', '!')} /shout"


def test_what_comes_before_may_refuse() -> None:
    async def refuse(request: Request) -> None:
        raise InputError(f"not {request.scope['route'].path}")

    _, direct = app_with(refuse)
    with TestClient(direct) as client:
        response = client.post("/shout", content="hello")
    assert (response.status_code, response.text) == (418, "/shout: not /shout")


def test_a_bug_is_for_those_further_out() -> None:
    async def fail(request: Request) -> None:
        raise ZeroDivisionError(request.method)

    _, direct = app_with(fail)
    with TestClient(direct) as client, pytest.raises(ZeroDivisionError):
        client.post("/shout", content="hello")


def test_every_way_in_for_a_text_is_short(settings: Settings) -> None:
    layer: object = create_app(settings).build_middleware_stack()
    while not isinstance(layer, DirectMiddleware):
        layer = layer._app  # type: ignore[attr-defined]
    assert {"/embed", "/v1/embeddings", "/similar", "/classify", "/rerank"} <= layer.paths
