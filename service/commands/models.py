"""`interlingua models`: bring models in, look at them, check them, take them away."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import click

from service.bundle.library import ModelLibrary
from service.bundle.manifest import UNKNOWN_LANGUAGE
from service.commands.settings_flags import read_settings
from service.wording import plural

_DATA = click.option(
    "--data",
    type=click.Path(path_type=Path),
    help="Data directory; imported models are in its folder models. [env: INTERLINGUA_DATA]",
)


@click.group()
def models() -> None:
    """Import, list, inspect, verify and remove models.

    A model is named by its directory, or by the name it was imported or shipped under; `serve
    --model` takes either too.

    \b
    Example: interlingua models import ./all-MiniLM-L6-v2 --precision int8
             interlingua serve --model interlingua-mini --model all-minilm-l6-v2
    """


@models.command("import")
@click.argument("source", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--name", help="Name to serve it under; from its directory if left out.")
@click.option(
    "--precision",
    type=click.Choice(["fp32", "int8"]),
    default="fp32",
    help="Of the stored weights; the loss of int8 is measured and printed.",
)
@click.option("--graph", help="ONNX file to take, relative to SOURCE, such as onnx/model_O2.onnx.")
@click.option("--space", help="Vector space, where it shares that of another model.")
@click.option(
    "--language", "languages", multiple=True, help="It knows; may be given several times."
)
@click.option(
    "--dimensions", multiple=True, type=int, help="Its vectors may be cut to (Matryoshka); several."
)
@click.option("--prompt", "prompts", multiple=True, help="NAME=TEXT put before an input; several.")
@click.option("--to", type=click.Path(path_type=Path), help="Directory to make instead.")
@_DATA
def import_(
    source: Path,
    name: str | None,
    precision: str,
    graph: str | None,
    space: str | None,
    languages: tuple[str, ...],
    dimensions: tuple[int, ...],
    prompts: tuple[str, ...],
    to: Path | None,
    data: Path | None,
) -> None:
    """Make a bundle of the sentence-transformers or Hugging Face directory SOURCE.

    It needs ONNX weights (onnx/model.onnx), or the safetensors of a BERT, RoBERTa or XLM-R, of
    which the graph is then made here.

    \b
    Example: interlingua models import ./e5-small --precision int8 --prompt "query=query: "
    """
    from service.huggingface.importing import Precision, Wishes, import_model
    from service.huggingface.layout import model_name

    name = name or model_name(source)
    wishes = Wishes(
        name=name,
        graph=graph,
        precision=next(p for p in get_args(Precision) if p == precision),
        space=space,
        languages=languages,
        dimensions=dimensions,
        prompts=dict(_prompt(text) for text in prompts),
    )
    imported = import_model(source, to or _library(data).place(name), wishes)
    click.echo(_line(imported.bundle.directory))
    if imported.loss is not None:
        loss = imported.loss
        click.echo(
            f"int8 against fp32 on {loss.texts} texts: mean cosine {loss.mean:.5f}, "
            f"least {loss.least:.5f}"
        )


@models.command("list")
@click.argument("directories", nargs=-1, type=click.Path(path_type=Path))
@_DATA
def list_(directories: tuple[Path, ...], data: Path | None) -> None:
    """List the shipped and the imported models, or those in DIRECTORIES.

    \b
    Example: interlingua models list
    """
    from service.shipped import shipped_models

    imported = [bundle.directory for bundle in _library(data).imported()]
    for directory in directories or (*shipped_models(), *imported):
        click.echo(_line(directory))


@models.command()
@click.argument("model", type=click.Path(path_type=Path))
@_DATA
def inspect(model: Path, data: Path | None) -> None:
    """Print what is known of MODEL, as JSON: a bundle, or a directory that could be imported.

    \b
    Example: interlingua models inspect interlingua-fast | jq .languages
    """
    from service.huggingface.bundle import read_model

    bundle = read_model(_library(data).find(model))
    click.echo(bundle.manifest.model_dump_json(indent=2))


@models.command()
@click.argument("chosen", nargs=-1, type=click.Path(path_type=Path))
@_DATA
def verify(chosen: tuple[Path, ...], data: Path | None) -> None:
    """Check MODELS, or all: every file's hash, the graph's shapes, and that a text has a vector.

    \b
    Example: interlingua models verify
    """
    from service.inference.encoder import Encoder
    from service.shipped import shipped_models

    library = _library(data)
    known: Sequence[Path] = (*shipped_models(), *(b.directory for b in library.imported()))
    for directory in [library.find(model) for model in chosen] or known:
        encoder = Encoder(directory)
        # No language is named, so each that the model tells apart has its turn.
        for language in list(encoder.towers) if encoder.needs_language else [None]:
            encoder.encode(["One text.", ""], language=language)
        click.echo(f"sound  {_line(directory)}")


@models.command()
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask.")
@_DATA
def remove(name: str, yes: bool, data: Path | None) -> None:
    """Delete the imported model NAME.

    \b
    Example: interlingua models remove e5-small --yes
    """
    library = _library(data)
    if not yes:
        click.confirm(f"Delete {library.place(name)}?", abort=True, err=True)
    click.echo(f"removed  {library.remove(name)}")


def _library(data: Path | None) -> ModelLibrary:
    return ModelLibrary(read_settings(data=data).data)


def _line(directory: Path) -> str:
    from service.huggingface.bundle import read_model

    manifest = read_model(directory).manifest
    size = sum(entry.bytes for entry in manifest.files.values())
    count = len(manifest.languages)
    languages = f"{count} {plural(count, 'language')}"
    if manifest.languages == (UNKNOWN_LANGUAGE,):
        languages = "languages unknown"
    return (
        f"{manifest.name}  {manifest.dimension} dimensions  {size / 1e6:.1f} MB  "
        f"{manifest.precision}  {languages}  {manifest.identity}  {directory}"
    )


def _prompt(text: str) -> tuple[str, str]:
    name, equals, prompt = text.partition("=")
    if not equals or not name:
        raise click.UsageError(f"--prompt wants NAME=TEXT, and got {text!r}.")
    return name, prompt
