"""`interlingua models`."""

from __future__ import annotations

from pathlib import Path

import click

from service.shipped import shipped_models


@click.command()
@click.argument("directories", nargs=-1, type=click.Path(path_type=Path))
def models(directories: tuple[Path, ...]) -> None:
    """List the shipped bundles, or those in DIRECTORIES, after checking every file.

    \b
    Example: interlingua models ./my-bundle
    """
    from service.bundle.reader import read_bundle

    for directory in directories or shipped_models():
        manifest = read_bundle(directory).manifest
        size = sum(entry.bytes for entry in manifest.files.values())
        click.echo(
            f"{manifest.name}  {manifest.dimension} dimensions  {size / 1e6:.1f} MB  "
            f"{len(manifest.languages)} languages  {manifest.identity}  {directory}"
        )
