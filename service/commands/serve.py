"""`interlingua serve`."""

from __future__ import annotations

import sys

import click

from service.blas import load_numpy_with_one_thread
from service.commands.settings_flags import read_settings, settings_options


@click.command()
@settings_options
def serve(**flags: object) -> None:
    """Start the server.

    Without any flag it serves the shipped models and the demo corpus on http://127.0.0.1:8000.

    \b
    Example: interlingua serve --port 9000 --data ./data --model ./my-bundle
    """
    settings = read_settings(**flags)
    load_numpy_with_one_thread()  # before anything else loads it
    from service.starting import start_server

    sys.exit(start_server(settings))
