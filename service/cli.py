"""The `interlingua` command: the root of what is in `service.commands`.

`train`, `export`, `evaluate` and the rest of the training half are mounted as entry points of the
group `interlingua.commands`: the service does not know of that half.
"""

from __future__ import annotations

import errno
from functools import cache
from importlib.metadata import entry_points

import click

from service.commands.backup import backup
from service.commands.bench import bench
from service.commands.classify import classify
from service.commands.completion import completion
from service.commands.doctor import doctor
from service.commands.embed import embed
from service.commands.index import index
from service.commands.keys import keys
from service.commands.mine import mine
from service.commands.models import models
from service.commands.sbom import sbom
from service.commands.search import search
from service.commands.serve import serve
from service.errors import InterlinguaError

COMMANDS: tuple[click.Command, ...] = (
    backup,
    bench,
    classify,
    completion,
    doctor,
    embed,
    index,
    keys,
    mine,
    models,
    sbom,
    search,
    serve,
)
"""The serving half; each comes from a file of its own."""


INTERRUPTED = 130


class Commands(click.Group):
    """A group whose own errors read like click's: one line, no traceback."""

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; turn the service's errors into exit code 1 with their remedy.

        So are refusals of a file by the system: whoever runs the command has to mend these.
        """
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            # What shells expect of a command that SIGINT ended; click would say 1, as of a failure.
            click.echo("Interrupted.", err=True)
            raise click.exceptions.Exit(INTERRUPTED) from None
        except InterlinguaError as error:
            raise click.ClickException(str(error)) from error
        except OSError as error:
            if error.errno in (None, errno.EPIPE):  # on a closed pipe click ends in silence
                raise
            place = "" if error.filename is None else f"{error.filename}: "
            raise click.ClickException(f"{place}{error.strerror}.") from error

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands of both halves."""
        return sorted({*super().list_commands(ctx), *_mounted_commands()})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Find a command in either half."""
        return super().get_command(ctx, cmd_name) or _mounted_commands().get(cmd_name)


@cache
def _mounted_commands() -> dict[str, click.Command]:
    found = entry_points(group="interlingua.commands")
    return {command.name: command for entry in found for command in entry.load()}


@click.group(
    cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(package_name="interlingua")
def main() -> None:
    """Multilingual vectors, cross-lingual search and classification on your own hardware.

    \b
    Examples:
      interlingua serve                          the server, with a page, on port 8000
      echo "Guten Morgen" | interlingua embed    a vector a line
      interlingua doctor                         what is here, and what to change

    Exit codes: 0 done, 1 failed (with the reason and a remedy), 2 used wrongly, 130 interrupted.
    """


for command in COMMANDS:
    main.add_command(command)
