"""`interlingua sbom`."""

from __future__ import annotations

import click
import orjson


@click.command()
@click.option(
    "--extra", "extras", multiple=True, default=("cpu",), show_default=True,
    help="An extra that was installed; may be given several times.",
)  # fmt: skip
@click.option("--licences", is_flag=True, help="Print a table of licences in place of JSON.")
def sbom(extras: tuple[str, ...], licences: bool) -> None:
    """Print what this installation is made of, as CycloneDX 1.6: packages, versions, licences.

    It reads what the installed packages say of themselves and asks no network.

    \b
    Examples:
      interlingua sbom > sbom.json
      interlingua sbom --extra cpu --extra otel --licences
    """
    from service.diagnosis.components import bill_of_materials, components

    parts = components(extras)
    if licences:
        for part in parts:
            click.echo(f"{part.name:24} {part.version:14} {part.licence or 'not said'}")
        return
    click.echo(orjson.dumps(bill_of_materials(parts), option=orjson.OPT_INDENT_2))
