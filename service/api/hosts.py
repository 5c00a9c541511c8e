"""Keeps the web pages of other sites away from a service without keys.

A page of any site may send requests to its reader's machine; it may not read the answers, and the
content type that is asked for keeps most of them from writing. But a request without a body needs
none, and a site that lets its own name point to 127.0.0.1 ("DNS rebinding") makes them requests to
itself. The browser says of both where they come from: in `sec-fetch-site` and `origin`, which no
page can write, and in `host`.
"""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

from service.api.problems import count_rejection, problem_response
from service.errors import ForbiddenError
from service.telemetry.metrics import Metrics

LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})

READING = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods that change nothing: pages of other sites cannot read what they give."""

_OWN_SITE = frozenset({"same-origin", "none"})
"""In `sec-fetch-site`: our own page, or what a person typed."""


class LocalHostsMiddleware:
    """Refuses requests by a name that is not this machine's own.

    Args:
        app: What is protected.
        host: The address that is listened on.
        metrics: Told of refusals.
    """

    def __init__(self, app: ASGIApp, host: str, metrics: Metrics) -> None:
        self._app = app
        self._names = names_of(host)
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "http" and not self._is_local(scope):
            error = ForbiddenError(
                "Without API keys this service answers to the names of its own machine alone.",
                field="host",
                remedy="Ask for localhost or 127.0.0.1; or set keys, or --open-to-network.",
            )
            count_rejection(error, self._metrics)
            await problem_response(error, scope)(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _is_local(self, scope: Scope) -> bool:
        return is_own(_header(scope, b"host"), self._names)


class OtherSitesMiddleware:
    """Refuses what a page of another site sends, unless it only reads.

    Args:
        app: What is protected.
        host: The address that is listened on, where nothing but this machine reaches it; None
            where a proxy may stand before it, which may have a name that is not known here: then
            only browsers that send `sec-fetch-site` are told apart.
        metrics: Told of refusals.
    """

    def __init__(self, app: ASGIApp, host: str | None, metrics: Metrics) -> None:
        self._app = app
        self._names = None if host is None else names_of(host)
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "http" and scope["method"] not in READING:
            field = self._foreign(scope)
            if field is not None:
                error = ForbiddenError(
                    "Without API keys this service takes nothing from pages of other sites.",
                    field=field,
                    given=_header(scope, field.encode()),
                    remedy="Ask from a program or from the service's own page; or set keys.",
                )
                count_rejection(error, self._metrics)
                await problem_response(error, scope)(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _foreign(self, scope: Scope) -> str | None:
        """Return the header that names another site, if one does."""
        site = _header(scope, b"sec-fetch-site")
        if site is not None:
            return None if site.lower() in _OWN_SITE else "sec-fetch-site"
        origin = _header(scope, b"origin")
        if origin is None or self._names is None:
            return None
        return None if _is_among(origin.partition("://")[2], self._names) else "origin"


def names_of(host: str) -> frozenset[str]:
    """Return what a service that listens on `host` is called on its own machine."""
    return LOCAL_NAMES | {host.lower(), f"[{host.lower()}]"}


def is_own(host: str | None, names: frozenset[str]) -> bool:
    """Return whether a request with this `host` may be meant for a service of `names`."""
    return host is None or _is_among(host, names)  # no browser leaves it out


def _is_among(authority: str, names: frozenset[str]) -> bool:
    given = authority.lower()
    name, colon, port = given.rpartition(":")
    name = name if colon and port.isdigit() else given
    return name in names or name.endswith(".localhost")


def _header(scope: Scope, wanted: bytes) -> str | None:
    return next((str(value, "latin-1") for name, value in scope["headers"] if name == wanted), None)
