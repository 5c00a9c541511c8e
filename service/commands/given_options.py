"""Options that mean something only beside others."""

from __future__ import annotations

from collections.abc import Sequence

import click
from click.core import ParameterSource


def refuse_given(context: click.Context, names: Sequence[str], reason: str) -> None:
    """Refuse the options `names` of a command where somebody gave one; it would do nothing.

    Args:
        context: Of the command that runs.
        names: Of its parameters, as the function has them.
        reason: What follows the option's name.

    Raises:
        click.UsageError: One of them was given.
    """
    for option in context.command.params:
        given = context.get_parameter_source(option.name or "") != ParameterSource.DEFAULT
        if option.name in names and given:
            raise click.UsageError(f"{option.opts[0]} {reason}")
