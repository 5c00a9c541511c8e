"""`interlingua serve`."""

from __future__ import annotations

import os
import signal
import sys

import click

from service.blas import load_numpy_with_one_thread
from service.commands.settings_flags import read_settings, settings_options


@click.command()
@settings_options
def serve(**flags: object) -> None:
    """Start the server.

    Without any flag it serves interlingua-mini and the demo corpus on http://127.0.0.1:8000.

    \b
    Example: interlingua serve --port 9000 --data ./data --model ./my-bundle
    """
    _end_on_sigterm()
    settings = read_settings(**flags)
    load_numpy_with_one_thread()  # before anything else loads it
    from service.starting import start_server

    sys.exit(start_server(settings))


def _end_on_sigterm() -> None:
    """Have SIGTERM end a container's first process until the server listens to it.

    To the first process the system gives no signal that it does not handle: one that came beside
    the imports was lost, and whoever stopped the container waited until the grace period ended.
    """
    if os.getpid() == 1:
        signal.signal(signal.SIGTERM, lambda *_: os._exit(128 + signal.SIGTERM))
