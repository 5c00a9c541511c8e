"""Which names a service without keys answers to, so that no web page can reach it by another.

A page of any site may send requests to its reader's machine; it may not read the answers, and the
content type that is asked for keeps it from writing. But a site that lets its own name point to
127.0.0.1 ("DNS rebinding") makes them requests to itself. They carry its name in `host`.
"""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

from service.api.problems import count_rejection, problem_response
from service.errors import ForbiddenError
from service.telemetry.metrics import Metrics

LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})


class LocalHostsMiddleware:
    """Refuses requests by a name that is not this machine's own.

    Args:
        app: What is protected.
        host: The address that is listened on.
        metrics: Told of refusals.
    """

    def __init__(self, app: ASGIApp, host: str, metrics: Metrics) -> None:
        self._app = app
        self._names = LOCAL_NAMES | {host.lower(), f"[{host.lower()}]"}
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
        sent = next((value for name, value in scope["headers"] if name == b"host"), None)
        if sent is None:
            return True  # no browser leaves it out
        given = sent.decode("latin-1")
        name, colon, port = given.lower().rpartition(":")
        name = name if colon and port.isdigit() else given.lower()
        return name in self._names or name.endswith(".localhost")
