"""Stop working for a client that is gone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.requests import ClientDisconnect, Request


@asynccontextmanager
async def cancelled_on_disconnect(request: Request) -> AsyncIterator[None]:
    """Cancel what runs inside when the client closes the connection; raise ClientDisconnect.

    The server does not cancel a handler by itself, so without this a client that gave up and
    tries again makes the same work twice. The watcher sleeps until the server has something to
    say; it asks for nothing in between. The body must have been read before.
    """
    task = asyncio.current_task()
    assert task is not None, "a handler runs in a task; this is a bug"
    gone = False

    async def watch() -> None:
        nonlocal gone
        while (await request.receive())["type"] != "http.disconnect":
            pass
        gone = True
        task.cancel()

    watcher = asyncio.create_task(watch())
    try:
        yield
    except asyncio.CancelledError:
        if gone and task.uncancel() == 0:
            raise ClientDisconnect from None
        raise
    finally:
        watcher.cancel()
