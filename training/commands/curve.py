"""`interlingua curve`: a run's learning curve."""

from __future__ import annotations

from pathlib import Path

import click

from training.commands.options import need_torch


@click.command("curve")
@click.argument("run", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.argument("picture", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--stage", default=None, help="Of the recipe. [default: its last]")
def curve(run: Path, picture: Path, stage: str | None) -> None:
    """Draw the learning curve of RUN into PICTURE (.svg or .png).

    \b
    Example: interlingua curve runs/fast-small curve.svg
    """
    need_torch()
    from training.curves import draw_curve
    from training.run import reopen_run

    draw_curve(run / (stage or reopen_run(run).recipe.stages[-1].name), picture)
    click.echo(str(picture))
