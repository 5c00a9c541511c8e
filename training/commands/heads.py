"""`interlingua train head` and `heads`: classifiers on a model's vectors."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from service.commands.model_choice import chosen_model
from training.commands.options import DATA, MODEL, need_torch


@click.command("head")
@MODEL
@click.option(
    "--data",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    required=True,
    help="TSV with a header; columns `text` and `label`, or `premise`, `hypothesis` and `label`; "
    "may be repeated.",
)
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Head directory.")
@click.option("--name", default=None, help="Of the head. [default: the directory's name]")
@click.option("--language", default="en", show_default=True, help="Of the texts.")
@click.option("--labels", default=None, help="Comma-separated; rows with others are left out.")
@click.option(
    "--dev",
    multiple=True,
    type=click.Path(path_type=Path, exists=True),
    help="TSV to measure on, named <lang>.dev.tsv(.gz), or a folder of them; may be repeated.",
)
@click.option("--source", default=None, help="Name of the labelled text. [default: its file's]")
@click.option("--dev-source", default="", help="Name of what is measured on. [default: the same]")
@click.option("--licence", default="not stated", show_default=True, help="Of the labelled text.")
@click.option("--attribution", default="text of your own", show_default=True, help="Its authors.")
def head(
    model: Path,
    data: tuple[Path, ...],
    out: Path,
    name: str | None,
    language: str,
    labels: str | None,
    dev: tuple[Path, ...],
    source: str | None,
    dev_source: str,
    licence: str,
    attribution: str,
) -> None:
    """Fit a classifier on labelled text of one language; it then answers in all of them.

    \b
    Example: interlingua train head --model models/interlingua-mini --data en.train.tsv --out topics
    """
    need_torch()
    from training.devices import describe_machine
    from training.heads import HeadData, train_head
    from training.progress import Progress

    files = [_dev_files(path) for path in dev]
    labelled = HeadData(
        paths=data,
        source=source or data[0].name,
        language=language,
        labels=tuple(part.strip() for part in labels.split(",")) if labels else (),
        dev=tuple(file for found in files for file in found),
        dev_source=dev_source,
        licence=licence,
        attribution=attribution,
    )
    train_head(
        chosen_model(model),
        labelled,
        out,
        name=name or out.name,
        machine=describe_machine(),
        progress=Progress(sys.stderr),
    )
    click.echo(str(out))


def _dev_files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    found = sorted(path.glob("*.dev.tsv*"))
    if not found:
        raise click.BadParameter(f"{path} holds no file <lang>.dev.tsv(.gz).", param_hint="--dev")
    return found


@click.command("heads")
@DATA
@MODEL
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    required=True,
    help="Each head goes into a directory of its name in here.",
)
def heads(data: Path | None, model: Path, out: Path) -> None:
    """Fit the heads that ship (topic, sentiment, entailment) anew, as after the encoder changed.

    \b
    Example: interlingua train heads --model models/interlingua-mini --data DIR --out models
    """
    need_torch()
    from training.data.folder import open_folder
    from training.default_heads import train_default_heads
    from training.devices import describe_machine
    from training.progress import Progress

    for made in train_default_heads(
        chosen_model(model),
        open_folder(data).root,
        out,
        machine=describe_machine(),
        progress=Progress(sys.stderr),
    ):
        click.echo(str(made.directory))
