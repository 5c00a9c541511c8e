"""The real application behind the real protocol on a real socket, with the lane or without."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpx
import uvicorn
from uvicorn.server import ServerState

from service.api.state import State, state_of
from service.app import create_app
from service.connections import bounded_protocol
from service.express.lane import Answering, Connection, Headers, Lane
from service.settings import Settings
from service.telemetry.traces import Traces


class Watched(Lane):
    """A lane that remembers of each request that it was asked about whether it took it."""

    def __init__(self, state: State, traces: Traces) -> None:
        super().__init__(state, traces)
        self.taken: list[bool] = []

    def begin(
        self, path: bytes, headers: Headers, body: bytes, connection: Connection
    ) -> Answering | None:
        """Do what a lane does, and take note."""
        answering = super().begin(path, headers, body, connection)
        self.taken.append(answering is not None)
        return answering


@dataclass(frozen=True, slots=True)
class Served:
    """A server that answers at `port`, and the connections to it."""

    port: int
    state: State
    lane: Watched
    connections: ServerState

    async def ask(self, method: str, path: str, **what: object) -> httpx.Response:
        """Ask once, over a connection of its own."""
        url = f"http://127.0.0.1:{self.port}{path}"
        async with httpx.AsyncClient() as client:
            return await client.request(method, url, **what)  # type: ignore[arg-type]

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Open a connection, to be spoken to in bytes."""
        return await asyncio.open_connection("127.0.0.1", self.port)


@asynccontextmanager
async def serve(
    settings: Settings, *, short: bool = True, traces: Traces | None = None
) -> AsyncIterator[Served]:
    """Start the application, wait until it is loaded, stop it in the end.

    Args:
        settings: Of it.
        short: Whether plain requests go the short way.
        traces: None by default.
    """
    app = create_app(settings, traces=traces or Traces())
    async with app.router.lifespan_context(app):
        state = state_of(app)
        await state.wait_until_settled()
        lane = Watched(state, traces or Traces())
        protocol = bounded_protocol(30.0, lane if short else None)
        config = uvicorn.Config(app, log_config=None, access_log=False)
        connections = ServerState()
        server = await asyncio.get_running_loop().create_server(
            lambda: protocol(config, connections, {}), "127.0.0.1", 0
        )
        try:
            yield Served(server.sockets[0].getsockname()[1], state, lane, connections)
        finally:
            server.close()
            for connection in list(connections.connections):
                connection.transport.abort()
            await server.wait_closed()
