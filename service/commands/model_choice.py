"""Which bundle a command works with when none is named."""

from __future__ import annotations

from pathlib import Path

import click

from service.shipped import shipped_models


def default_model() -> Path:
    """Return the directory of the default shipped bundle.

    Raises:
        click.UsageError: None is shipped with this installation.
    """
    found = shipped_models()
    if not found:
        raise click.UsageError("No bundle is shipped with this installation; pass --model DIR.")
    return found[0]
