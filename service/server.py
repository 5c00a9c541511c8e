"""Run the application under uvicorn, say when it is up, drain when told to stop."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import sys
from collections.abc import Iterator

import click
import uvicorn

from service.accepting import Acceptor
from service.api.state import Phase, Resources, State, state_of
from service.app import create_app, lane_of
from service.connections import bounded_protocol
from service.errors import SettingsError
from service.garbage import spare_what_stays
from service.inference.opening import Opening
from service.security.exposure import asks_for_keys, who_may_ask
from service.settings import Settings
from service.wording import plural


def run_server(settings: Settings, listener: socket.socket, opening: Opening) -> int:
    """Serve on `listener` until a signal comes; return the exit code.

    Args:
        settings: What to serve, and how.
        listener: Bound and listening.
        opening: The models of `settings`, which are being opened.

    Returns:
        0 after a clean stop, 1 when the models or the data could not be loaded.
    """
    try:
        app = create_app(settings, opening=opening)
    except SettingsError as error:
        click.echo(f"The service cannot start. {error}", err=True)
        return 1
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        http=bounded_protocol(settings.client_timeout_seconds, lane_of(app)),
        timeout_keep_alive=settings.keep_alive_seconds,
        timeout_graceful_shutdown=settings.drain_seconds,  # type: ignore[arg-type]
    )
    state = state_of(app)
    server = StoppingServer(config, state, notice_seconds=settings.drain_notice_seconds)
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        return runner.run(_serve(server, state, listener))


LAST_REQUESTS_SECONDS = 0.2
"""How long what was sent before a stop may take to be read."""


class StoppingServer(uvicorn.Server):
    """Takes connections at once, and ends with the exit code of `run_server` after a clean stop.

    Uvicorn raises the signal again after its shutdown, so that a clean stop would look like a
    death by signal to whoever started the process.

    Args:
        config: Uvicorn's.
        state: Told of the signal, so that probes learn of it first.
        notice_seconds: How long requests are still taken after a signal.
    """

    def __init__(self, config: uvicorn.Config, state: State, *, notice_seconds: float) -> None:
        super().__init__(config)
        self._state = state
        self._notice_seconds = notice_seconds

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start the application, and listen on `sockets`."""
        if sys.platform == "win32":  # its loop cannot watch a socket
            await super().startup(sockets)
            return
        await super().startup([])
        config = self.config
        loop = asyncio.get_running_loop()
        for listener in sockets or ():
            acceptor = Acceptor(
                listener,
                lambda: config.http_protocol_class(  # type: ignore[call-arg]
                    config=config,
                    server_state=self.server_state,
                    app_state=self.lifespan.state,
                    _loop=loop,
                ),
                backlog=config.backlog,
            )
            self.servers.append(acceptor)  # type: ignore[arg-type]

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Take no more connections, answer what those that are there have sent, and stop."""
        for acceptor in self.servers:
            acceptor.close()
        # Uvicorn closes each connection whose last request was answered, whatever came since.
        await asyncio.sleep(LAST_REQUESTS_SECONDS)
        await super().shutdown(sockets)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop on SIGINT and SIGTERM; a second SIGINT does not wait for what is running."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._leave, number)
        try:
            yield
        finally:
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.remove_signal_handler(number)

    def _leave(self, number: int) -> None:
        # Nobody who presses ctrl-c waits for a load balancer, nor does a second signal.
        notice = 0.0 if number == signal.SIGINT or self._state.leaving else self._notice_seconds
        self._state.begin_leaving()
        # Who keeps connections goes elsewhere after the next answer; uvicorn takes the headers of
        # all answers from the one list to the other each second.
        for headers in (self.config.encoded_headers, self.server_state.default_headers):
            headers.append((b"connection", b"close"))
        loop = asyncio.get_running_loop()
        loop.call_later(notice, self.handle_exit, number, None)


async def _serve(server: uvicorn.Server, state: State, listener: socket.socket) -> int:
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    loading = asyncio.create_task(state.wait_until_settled())
    await asyncio.wait({serving, loading}, return_when=asyncio.FIRST_COMPLETED)
    if state.phase is Phase.READY and not state.leaving:
        spare_what_stays()
        host, port = listener.getsockname()[:2]
        url = f"http://{_reachable(host)}:{port}"
        click.echo(banner(url, state.resources, state.settings))
    elif state.phase is Phase.FAILED:
        click.echo(f"The service cannot start. {state.failure}", err=True)
        # Told to exit any sooner, uvicorn leaves the application's shutdown out and hangs.
        while not server.started:
            await asyncio.sleep(0.01)
        server.should_exit = True
    loading.cancel()
    await serving
    return 1 if state.phase is Phase.FAILED else 0


def banner(url: str, resources: Resources, settings: Settings) -> str:
    """Return what a person wants to see when the server is up: where, what, and what to try."""
    manifests = [encoder.manifest for encoder in resources.encoders.values()]
    models = [f"{manifest.name}, {manifest.dimension} dimensions" for manifest in manifests]
    languages = dict.fromkeys(code for manifest in manifests for code in manifest.languages)
    key = "-H 'authorization: Bearer KEY' " if asks_for_keys(settings) else ""
    counts = {corpus.name: corpus.count() for corpus in resources.corpora.list()}
    corpora = [f"{name} ({n:,} {plural(n, 'document')})" for name, n in counts.items()]
    classifiers = [head.name for head in resources.classifiers.list()]
    lines = [
        "",
        f"  Interlingua is up: {url}",
        "",
        f"  model{' ' if len(models) == 1 else 's'}       {'; '.join(models)}",
        f"  languages    {' '.join(languages)}",
        f"  corpora      {', '.join(corpora) or 'none yet'}",
        f"  classifiers  {', '.join(classifiers) or 'none'}",
        f"  answers      {who_may_ask(settings)}",
        "",
        "  Paste one of these:",
        "",
        f"  curl -sG {url}/similar {key}--data-urlencode 'q=Warum verstimmt sich meine Gitarre?' "
        "-d languages=en,fr,ja -d k=3",
        f"  curl -s {url}/embed {key}-H 'content-type: application/json' "
        """-d '{"inputs": ["Guten Morgen!", "Good morning!"], "dimensions": 8}'""",
        f"  curl -s {url}/classify {key}-H 'content-type: application/json' "
        """-d '{"inputs": "Die Mannschaft gewann das Endspiel."}'""",
        "",
    ]
    return "\n".join(lines)


def _reachable(host: str) -> str:
    if host in ("0.0.0.0", "::"):  # noqa: S104 - compared with, not bound to
        return "127.0.0.1"
    return f"[{host}]" if ":" in host else host


def _loop_factory() -> type[asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.Loop
