"""`interlingua backup`."""

from __future__ import annotations

from pathlib import Path

import click

from service.commands.settings_flags import read_settings
from service.wording import plural


@click.command()
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    help="Directory of corpora, as of `interlingua serve`. [env: INTERLINGUA_DATA]",
)
@click.argument("to", type=click.Path(path_type=Path))
def backup(data: Path | None, to: Path) -> None:
    """Copy corpora, classifiers and jobs to the new directory TO; a server may go on working.

    To restore, stop the server and start it with --data TO, or with a copy of it. Imported models
    are left out: import them into it again first.

    \b
    Example: interlingua backup --data ./data ./backup-monday
    """
    from service.search.backup import back_up

    settings = read_settings(data=None if data is None else str(data))
    copied = back_up(settings.data, to)
    click.echo(f"copied {len(copied)} {plural(len(copied), 'file')} to {to}")
