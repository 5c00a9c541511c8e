"""Write the pages: `python -m service.reference docs/reference`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

from service.reference.api import api_page
from service.reference.commands import commands_page
from service.reference.metrics import metrics_page
from service.reference.settings import settings_page

PAGES: dict[str, Callable[[], str]] = {
    "api.md": api_page,
    "commands.md": commands_page,
    "metrics.md": metrics_page,
    "settings.md": settings_page,
}


@click.command()
@click.argument("directory", type=click.Path(path_type=Path, file_okay=False))
def write(directory: Path) -> None:
    """Write the pages that are made from the code into DIRECTORY."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, make in PAGES.items():
        (directory / name).write_text(make(), encoding="utf-8")


if __name__ == "__main__":
    write()
