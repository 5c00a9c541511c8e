"""The way in: who asks, and whether the route, the corpus and the pace are theirs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from fastapi import APIRouter, Depends, FastAPI, Request
from fastapi.routing import APIRoute

from service.api.context import context_of
from service.api.state import state_of
from service.errors import AuthenticationError, ForbiddenError
from service.security.grants import ALL_SCOPES, Grant, Scope
from service.security.keys import Keys

Endpoint = TypeVar("Endpoint", bound=Callable[..., object])

_SCOPES = "interlingua_scopes"

_GRANT = "interlingua.grant"


def needs(*scopes: Scope) -> Callable[[Endpoint], Endpoint]:
    """Declare which keys may call a route: those that have one of `scopes`.

    It goes between the router's decorator and the function; a route without it keeps the
    application from starting.
    """

    def declare(endpoint: Endpoint) -> Endpoint:
        setattr(endpoint, _SCOPES, frozenset(scopes))
        return endpoint

    return declare


needs_any_key = needs(*ALL_SCOPES)
"""For routes that tell nothing but how the service is made."""


def scopes_of(route: APIRoute) -> frozenset[Scope]:
    """Return the scopes of which one opens `route`; empty where none was declared."""
    scopes: frozenset[Scope] = getattr(route.endpoint, _SCOPES, frozenset())
    return scopes


def include_locked(
    app: FastAPI, router: APIRouter, *, responses: dict[int | str, dict[str, Any]]
) -> None:
    """Put the routes of `router` into `app`, behind the keys.

    Args:
        app: Where they go.
        router: Whose every route says by `needs` which keys open it.
        responses: For the OpenAPI document.

    Raises:
        RuntimeError: A route does not say it; this is a bug.
    """
    for route in routes_of(router):
        if not scopes_of(route):
            raise RuntimeError(f"{route.path} declares no scope; this is a bug")
    app.include_router(router, dependencies=[RequireKey], responses=responses)


def routes_of(router: APIRouter) -> list[APIRoute]:
    """Return the routes that were declared on `router`."""
    return [route for route in router.routes if isinstance(route, APIRoute)]


def check_key(keys: Keys, authorization: str | None) -> Grant:
    """Return what whoever sent `authorization` may do.

    A token without `Bearer` before it is taken too, as some clients send it.

    Raises:
        AuthenticationError: Keys are set, and it carries none of them.
    """
    if authorization is None and not keys.open_to_all:
        raise AuthenticationError(
            "No API key was sent.",
            field="authorization",
            remedy="Send the header authorization: Bearer KEY.",
        )
    whole = authorization or ""
    scheme, _, token = whole.partition(" ")
    grant = keys.find(token.strip() if scheme.lower() == "bearer" and token else whole)
    if grant is None:
        raise AuthenticationError(
            "This API key is not known.",
            field="authorization",
            remedy="Ask the operator of the service for a key.",
        )
    return grant


def grant_of(request: Request, keys: Keys) -> Grant:
    """Return what whoever sent `request` may do; looked up once, and noted for the log.

    Raises:
        AuthenticationError: Keys are set, and it carries none of them.
    """
    grant: Grant | None = request.scope.get(_GRANT)
    if grant is None:
        grant = check_key(keys, request.headers.get("authorization"))
        context_of(request).grant = request.scope[_GRANT] = grant
    return grant


def check_scope(grant: Grant, scopes: frozenset[Scope]) -> None:
    """Raise ForbiddenError unless `grant` has one of `scopes`."""
    if grant.scopes.isdisjoint(scopes):
        wanted = " or ".join(scope for scope in Scope if scope in scopes)
        raise ForbiddenError(
            f"This key has not the scope {wanted}.",
            field="authorization",
            remedy="Ask the operator of the service for a key that has.",
        )


async def require_key(request: Request) -> None:
    """Let a request pass whose key is good for its route, at a pace that it may have.

    Raises:
        AuthenticationError: Keys are set, and it carries none of them.
        ForbiddenError: Its key has no scope that opens the route.
        RateLimitError: Its key asks more often than it may.
    """
    state = state_of(request.app)
    grant = grant_of(request, state.keys)
    check_scope(grant, scopes_of(request.scope["route"]))
    state.rates.spend(grant)


RequireKey = Depends(require_key)
"""Put among a router's dependencies; it runs before the body is read."""
