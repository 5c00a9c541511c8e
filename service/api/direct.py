"""A shorter way to the routes that are asked for a text at a time.

FastAPI looks for a route twice in each router and works a signature's parameters out again for
every request; for one short text that takes longer than the vector of a static model. Where the
parameters are the request, headers, and functions of these, they are called here one after the
other. The routes stay declared as ever: the OpenAPI document and all rules come from there.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from fastapi import Request
from fastapi.params import Depends as Dependency
from fastapi.params import Header
from fastapi.routing import APIRoute
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.types import Scope

Make = Callable[[Request], Awaitable[object]]
Arguments = Mapping[str, Make]


class DirectRoute(Route):
    """A short way to one route; what it does not answer is for the route as it was declared."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Say whether a request is for it, path and method."""
        match, found = super().matches(scope)
        return (match, found) if match is Match.FULL else (Match.NONE, {})


def direct_routes(routes: Iterable[APIRoute], *, before: Make) -> list[DirectRoute]:
    """Return a short way to those of `routes` that can have one; to be put before them.

    Args:
        routes: As they were declared.
        before: What must let a request pass first; it finds its route in the scope.
    """
    return [
        DirectRoute(route.path, _answer(route, arguments, before), methods=["POST"])
        for route in routes
        if route.methods == {"POST"}
        and not route.param_convertors
        and _returns_response(route.endpoint)
        and (arguments := _arguments(route.endpoint)) is not None
    ]


def _answer(
    route: APIRoute, arguments: Arguments, before: Make
) -> Callable[[Request], Awaitable[Response]]:
    endpoint = route.endpoint

    async def answer(request: Request) -> Response:
        request.scope["route"] = route
        await before(request)
        made = {name: await make(request) for name, make in arguments.items()}
        response: Response = await endpoint(**made)
        return response

    return answer


def _returns_response(endpoint: Callable[..., Any]) -> bool:
    returned = get_type_hints(endpoint).get("return")
    return (
        inspect.iscoroutinefunction(endpoint)
        and inspect.isclass(returned)
        and issubclass(returned, Response)
    )


def _arguments(function: Callable[..., Any]) -> Arguments | None:
    """Return how each parameter of `function` is made of the request; None where one cannot be."""
    made: dict[str, Make] = {}
    hints = get_type_hints(function, include_extras=True)
    for name, parameter in inspect.signature(function).parameters.items():
        make = _maker(hints[name], parameter.default)
        if make is None:
            return None
        made[name] = make
    return made


def _maker(hint: object, default: object) -> Make | None:
    if hint is Request:
        return _itself
    if get_origin(hint) is not Annotated:
        return None
    kind, source, *_ = get_args(hint)
    if isinstance(source, Header) and source.alias and kind is str and isinstance(default, str):
        return _header(source.alias, default)
    if isinstance(source, Dependency) and inspect.iscoroutinefunction(source.dependency):
        return _dependency(source.dependency)
    return None


async def _itself(request: Request) -> Request:
    return request


def _header(name: str, default: str) -> Make:
    async def read(request: Request) -> str:
        return request.headers.get(name, default)

    return read


def _dependency(function: Callable[..., Awaitable[object]]) -> Make | None:
    arguments = _arguments(function)
    if arguments is None:
        return None
    if list(arguments.values()) == [_itself]:
        return function

    async def call(request: Request) -> object:
        return await function(**{name: await make(request) for name, make in arguments.items()})

    return call
