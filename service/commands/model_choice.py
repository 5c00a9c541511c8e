"""Which model a command works with: a directory, a name, or the default."""

from __future__ import annotations

from pathlib import Path

import click

from service.bundle.library import ModelLibrary
from service.commands.settings_flags import read_settings

model_option = click.option(
    "--model",
    type=click.Path(path_type=Path),
    help="Directory of a model, or the name of a shipped or imported one.  [default: the first of "
    "INTERLINGUA_MODEL, or interlingua-mini]",
)
"""Gives a command --model, for `chosen_model`."""


def chosen_model(
    model: Path | None, data: Path | None = None, *, otherwise: str | None = None
) -> Path:
    """Return the directory of `model`, or of the default model of the settings.

    Args:
        model: A directory, or the name of a model that `interlingua models list` shows.
        data: Where models were imported; as the settings say if None.
        otherwise: The name of the model that comes before the settings' where `model` is None,
            if there is a model of this name.

    Raises:
        click.UsageError: None is named, and none is shipped with this installation.
    """
    settings = read_settings(
        data=None if data is None else str(data), model=None if model is None else [model]
    )
    named = None if otherwise is None else ModelLibrary(settings.data).named(otherwise)
    return settings.model[0] if model is not None or named is None else named
