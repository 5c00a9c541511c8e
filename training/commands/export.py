"""`interlingua export`: the bundle of a run."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from training.commands.options import need_torch


@click.command("export")
@click.argument("run", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.argument("directory", type=click.Path(path_type=Path))
@click.option(
    "--set",
    "assignments",
    multiple=True,
    metavar="KEY=VALUE",
    help="Change what the export alone reads: precision=fp32, say, where weights are rounded.",
)
def export_command(run: Path, directory: Path, assignments: tuple[str, ...]) -> None:
    """Write the trained model of RUN as a bundle into DIRECTORY, with a parity check.

    \b
    Example: interlingua export runs/fast-small models/my-encoder
    """
    need_torch()
    from training.progress import Progress
    from training.run import change_export, reopen_run, write

    opened = reopen_run(run, progress=Progress(sys.stderr))
    write(change_export(opened, assignments), directory)
    click.echo(str(directory))
