"""API keys: a bearer token, compared in constant time."""

from __future__ import annotations

import hmac

from fastapi import Depends, Request

from service.api.context import context_of
from service.api.keys import Keys, digest
from service.api.state import state_of
from service.errors import AuthenticationError


def check_key(keys: Keys, authorization: str | None) -> str:
    """Return who sent `authorization`: a name of the key that tells nothing of it.

    Empty where no keys are set.

    Each key is compared, whichever matches, and as a digest: how long it takes tells nothing of
    how many keys there are or how much of one was right. A token without `Bearer` before it is
    taken too, as some clients send it.

    Raises:
        AuthenticationError: Keys are set, and it carries none of them.
    """
    if keys.open_to_all:
        return ""
    if authorization is None:
        raise AuthenticationError(
            "No API key was sent.",
            field="authorization",
            remedy="Send the header authorization: Bearer KEY.",
        )
    scheme, _, token = authorization.partition(" ")
    sent = digest(token.strip() if scheme.lower() == "bearer" and token else authorization)
    matches = [hmac.compare_digest(sent, key) for key in keys.digests()]
    if not any(matches):
        raise AuthenticationError(
            "This API key is not known.",
            field="authorization",
            remedy="Ask the operator of the service for a key.",
        )
    return sent.hex()[:12]


async def _require_key(request: Request) -> None:
    keys = state_of(request.app).keys
    context_of(request).client = check_key(keys, request.headers.get("authorization"))


RequireKey = Depends(_require_key)
"""Put among a router's dependencies; it runs before the body is read."""
