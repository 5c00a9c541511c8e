"""Which model a command works with: a directory, a name, or the default."""

from __future__ import annotations

from pathlib import Path

import click

from service.bundle.library import ModelLibrary
from service.commands.settings_flags import read_settings
from service.shipped import shipped_models

model_option = click.option(
    "--model",
    type=click.Path(path_type=Path),
    help="Directory of a model, or the name of a shipped or imported one.  [default: the shipped]",
)
"""Gives a command --model, for `chosen_model`."""


def chosen_model(
    model: Path | None, data: Path | None = None, *, otherwise: str | None = None
) -> Path:
    """Return the directory of `model`, or of the default shipped bundle.

    Args:
        model: A directory, or the name of a model that `interlingua models list` shows.
        data: Where models were imported; as the settings say if None.
        otherwise: The name of the model that comes before the shipped one where `model` is None,
            if there is a model of this name.

    Raises:
        click.UsageError: None is named, and none is shipped with this installation.
    """
    library = ModelLibrary(read_settings(data=None if data is None else str(data)).data)
    if model is not None:
        return library.find(model)
    named = None if otherwise is None else library.named(otherwise)
    if named is not None:
        return named
    found = shipped_models()
    if not found:
        raise click.UsageError("No bundle is shipped with this installation; pass --model DIR.")
    return found[0]
