"""What several commands ask for."""

from __future__ import annotations

from pathlib import Path

import click

DATA = click.option(
    "--data",
    type=click.Path(path_type=Path, file_okay=False),
    help="Data folder: parallel/<source>/..., eval/<set>/... (docs/data.md).",
)

MODEL = click.option(
    "--model",
    type=click.Path(path_type=Path),
    required=True,
    help="Directory of a model, or the name of a shipped or imported one.",
)


def need_torch() -> None:
    """Raise ClickException with the remedy where torch is not installed."""
    try:
        import torch  # noqa: F401
    except ImportError:
        raise click.ClickException(
            "Training needs the extra `train`: pip install 'interlingua[cpu,train]'."
        ) from None
