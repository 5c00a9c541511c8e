"""`interlingua evaluate`: a model measured as it is served."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from service.errors import BundleError
from training.commands.options import DATA, need_torch

if TYPE_CHECKING:
    from training.data.folder import DataFolder


@click.command("evaluate")
@click.option(
    "--model",
    required=True,
    help="Bundle, run, or Hugging Face directory with ONNX weights; the name of a shipped or "
    "imported model; or the URL of a server.",
)
@click.option(
    "--protocol",
    "protocols",
    multiple=True,
    metavar="NAME",
    help="May be given several times. [default: tatoeba, sts and demo, where there is data]",
)
@DATA
@click.option("--languages", help="Comma-separated; the model's own by default.")
@click.option(
    "--set", "assignments", multiple=True, metavar="KEY=VALUE", help="Change the protocol."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON in place of a table.")
@click.option(
    "--plot",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Draw the figures into this .svg or .png.",
)
@click.option("--record", is_flag=True, help="Write the figures into the bundle's manifest.")
def evaluate(
    model: str,
    protocols: tuple[str, ...],
    data: Path | None,
    languages: str | None,
    assignments: tuple[str, ...],
    as_json: bool,
    plot: Path | None,
    record: bool,
) -> None:
    """Measure a model, in the runtime that serves it.

    \b
    Example: interlingua evaluate --model models/interlingua-mini --protocol demo
    """
    need_torch()
    import dataclasses

    from service.text.language import languages_of
    from training.data.folder import open_folder
    from training.evaluation.defaults import assigned, evaluate_command, usual_settings
    from training.evaluation.figures import figures_table
    from training.evaluation.models import open_model
    from training.evaluation.plots import check_ending, draw_figures
    from training.evaluation.protocols import make_protocol
    from training.evaluation.remote import is_url
    from training.export import open_bundle
    from training.run import record_figures

    if assignments and len(protocols) != 1:
        raise click.UsageError("--set changes one protocol: name it with --protocol NAME.")
    named = languages_of(languages)
    chosen = [*assignments, *assigned(named or ())]

    def folder() -> DataFolder:
        return open_folder(data)

    # Refused before a model is loaded, let alone measured for an hour.
    for name in protocols:
        make_protocol(name, chosen)
    if plot is not None:
        check_ending(plot)
    if record:
        if is_url(model):
            raise BundleError(
                "--record writes into a bundle's manifest, and a server's is not at hand.",
                remedy="Measure the bundle's directory.",
            )
        open_bundle(Path(model))
    opened = open_model(model)
    settings = dict.fromkeys(protocols, chosen) or usual_settings(
        folder if data else None, named or (), opened.languages
    )
    figures = [
        figure
        for name, wanted in settings.items()
        for figure in make_protocol(name, wanted).measure(opened, folder)
    ]
    if as_json:
        click.echo(json.dumps([dataclasses.asdict(figure) for figure in figures], indent=2))
    else:
        click.echo(figures_table(figures))
    if record:
        command = evaluate_command(opened.name, tuple(settings), chosen)
        record_figures(Path(model), figures, command=command)
    if plot is not None:
        draw_figures(figures, plot)
