"""A shorter way to the routes that are asked for a text at a time.

FastAPI has layers of its own, looks for a route twice in each router, and works a signature's
parameters out again for every request; for one short text that takes longer than the vector of a
static model. Where the parameters are the request, headers, and functions of these, they are called
here one after the other. The routes stay declared as ever: the OpenAPI document and all rules come
from there.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable
from typing import Annotated, Any, cast, get_args, get_origin, get_type_hints

from fastapi import Request
from fastapi.params import Depends as Dependency
from fastapi.params import Header
from fastapi.routing import APIRoute
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from service.api.problems import HANDLED, ProblemHandler

Make = Callable[[Request], Awaitable[object]]


class DirectMiddleware:
    """Answers what has a short way, and leaves the rest to FastAPI.

    Args:
        app: FastAPI's own layers.
        routes: As they were declared.
        before: What must let a request pass first; it finds its route in the scope.
        problem: Makes the answer to a request that ended in an error.
    """

    def __init__(
        self, app: ASGIApp, *, routes: Iterable[APIRoute], before: Make, problem: ProblemHandler
    ) -> None:
        self._app = app
        self._problem = problem
        self._answers = {
            route.path: _answer(route, call, before)
            for route in routes
            if route.methods == {"POST"}
            and not route.param_convertors
            and _returns_response(route.endpoint)
            and (call := _from_request(route.endpoint)) is not None
        }

    @property
    def paths(self) -> frozenset[str]:
        """Return where it answers."""
        return frozenset(self._answers)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        posted = scope["type"] == "http" and scope["method"] == "POST"
        answer = self._answers.get(scope["path"]) if posted else None
        if answer is None:
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive, send)
        try:
            response = await answer(request)
        except HANDLED as error:
            response = await self._problem(request, error)
        await response(scope, receive, send)


def _answer(route: APIRoute, call: Make, before: Make) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        request.scope["route"] = route
        await before(request)
        return cast(Response, await call(request))  # `_returns_response` saw to it

    return answer


def _returns_response(endpoint: Callable[..., Any]) -> bool:
    returned = get_type_hints(endpoint).get("return")
    return (
        inspect.iscoroutinefunction(endpoint)
        and inspect.isclass(returned)
        and issubclass(returned, Response)
    )


def _from_request(function: Callable[..., Awaitable[object]]) -> Make | None:
    """Return `function` with its parameters made of the request; None where one cannot be."""
    made: dict[str, Make] = {}
    hints = get_type_hints(function, include_extras=True)
    for name, parameter in inspect.signature(function).parameters.items():
        make = _maker(hints[name], parameter.default)
        if make is None:
            return None
        made[name] = make
    if list(made.values()) == [_itself]:
        return function

    async def call(request: Request) -> object:
        return await function(**{name: await make(request) for name, make in made.items()})

    return call


def _maker(hint: object, default: object) -> Make | None:
    if hint is Request:
        return _itself
    if get_origin(hint) is not Annotated:
        return None
    kind, source, *_ = get_args(hint)
    if isinstance(source, Header) and source.alias and kind is str and isinstance(default, str):
        return _header(source.alias, default)
    if isinstance(source, Dependency) and inspect.iscoroutinefunction(source.dependency):
        return _from_request(source.dependency)
    return None


async def _itself(request: Request) -> Request:
    return request


def _header(name: str, default: str) -> Make:
    async def read(request: Request) -> str:
        return request.headers.get(name, default)

    return read
