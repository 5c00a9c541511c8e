"""HEAD of whatever can be GET: the same status and headers, without the body.

Probes of load balancers, monitors and `curl -I` ask so, and FastAPI's routes would refuse it.
"""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send


class HeadMiddleware:
    """Has HEAD answered as GET is, and sends nothing of the body.

    Args:
        app: What answers GET.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return

        async def send_without_body(message: Message) -> None:
            if message["type"] == "http.response.body":
                message = {**message, "body": b""}
            await send(message)

        # A copy, since the server frames the answer by the method in its own.
        asked = {**scope, "method": "GET"}
        try:
            await self._app(asked, receive, send_without_body)
        finally:
            scope.update({name: asked[name] for name in asked.keys() - scope.keys()})
