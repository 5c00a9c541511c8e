"""From settings to a server: what must be first, and what can go on side by side."""

from __future__ import annotations

import socket
import sys

import click

from service.arenas import use_one_arena
from service.errors import SettingsError
from service.garbage import leave_garbage
from service.security.exposure import check_exposure
from service.settings import Settings
from service.telemetry.logs import set_up_logs


def start_server(settings: Settings) -> int:
    """Serve until a signal comes; return the exit code.

    Exit codes: 0 after a clean stop, 1 when the models or the data could not be loaded, 2 when
    the address cannot be listened on, or must not be without keys.
    """
    use_one_arena()
    leave_garbage()
    try:
        check_exposure(settings)
    except SettingsError as error:
        click.echo(f"The service cannot start. {error}", err=True)
        return 2
    try:
        listener = _listen(settings.host, settings.port)
    except OSError as error:
        click.echo(
            f"Cannot listen on {settings.host}:{settings.port}: {error.strerror}. "
            "Choose another with --port, or --port 0 for any free one.",
            err=True,
        )
        return 2
    set_up_logs(settings.log_level, settings.log_format)
    _leave_out_openvinos_converter()
    from service.inference.opening import open_in_background

    # Native code reads and compiles models, so it can do that beside the imports.
    opening = open_in_background(settings)
    from service.server import run_server

    return run_server(settings, listener, opening)


def _leave_out_openvinos_converter() -> None:
    """Have `import openvino` do without what converts other formats, which takes it 0.13 s.

    OpenVINO does not mind its absence. Only for a process of our own: to others it may matter.
    """
    sys.modules["openvino.tools.ovc"] = None  # type: ignore[assignment]


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(2048)
        listener.set_inheritable(True)
    except OSError:
        listener.close()
        raise
    return listener
