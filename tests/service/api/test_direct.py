"""The short way answers what can be made of the request alone, and leaves the rest to FastAPI."""

from __future__ import annotations

from typing import Annotated

import pytest
from fastapi import APIRouter, Depends, FastAPI, Header, Request
from fastapi.testclient import TestClient
from starlette.responses import PlainTextResponse, Response

from service.api.auth import routes_of
from service.api.direct import DirectRoute, direct_routes
from service.app import create_app
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


def test_those_that_need_more_than_the_request_have_none() -> None:
    assert [route.path for route in direct_routes(routes_of(router), before=ignore)] == ["/shout"]


@pytest.mark.parametrize("headers", [{}, {"x-mark": "?"}])
def test_an_answer_is_the_same_both_ways(headers: dict[str, str]) -> None:
    plain, direct = FastAPI(), FastAPI()
    direct.router.routes += direct_routes(routes_of(router), before=ignore)
    answers = []
    for app in (plain, direct):
        app.include_router(router)
        with TestClient(app) as client:
            answers.append(client.post("/shout", content="hello", headers=headers))
            assert client.get("/shout").text == "GET"
            assert client.put("/shout").status_code == 405
            assert client.post("/values", content="a").json() == {"text": "A!"}
    assert answers[0].text == answers[1].text == f"HELLO{headers.get('x-mark', '!')} /shout"


def test_what_comes_before_may_refuse() -> None:
    async def refuse(request: Request) -> None:
        raise PermissionError(request.scope["route"].path)

    app = FastAPI()
    app.router.routes += direct_routes(routes_of(router), before=refuse)
    with TestClient(app) as client, pytest.raises(PermissionError, match="/shout"):
        client.post("/shout", content="hello")


def test_every_way_in_for_a_text_is_short(settings: Settings) -> None:
    short = {route.path for route in create_app(settings).routes if isinstance(route, DirectRoute)}
    assert {"/embed", "/v1/embeddings", "/similar", "/classify", "/rerank"} <= short
