"""The `interlingua` command.

Serving commands live here; `train`, `export`, `evaluate` and the rest of the training half are
mounted from `training.cli`, which imports nothing heavy until one of them runs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO, Any

import click
import orjson
from pydantic import ValidationError
from pydantic.fields import FieldInfo

from service.errors import InterlinguaError
from service.settings import Settings
from service.shipped import shipped_models


class Commands(click.Group):
    """A group whose own errors read like click's: one line, no traceback."""

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; turn the service's errors into exit code 1 with their remedy."""
        try:
            return super().invoke(ctx)
        except InterlinguaError as error:
            raise click.ClickException(str(error)) from error

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands of both halves."""
        return sorted({*super().list_commands(ctx), *_training_commands()})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Find a command in either half."""
        return super().get_command(ctx, cmd_name) or _training_commands().get(cmd_name)


def _training_commands() -> dict[str, click.Command]:
    from training.cli import commands

    return {command.name: command for command in commands if command.name}


@click.group(
    cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(package_name="interlingua")
def main() -> None:
    """Multilingual vectors, cross-lingual search and classification on your own hardware."""


def settings_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give `command` a flag for every field of `Settings`, so the two cannot drift apart."""
    for name, field in reversed(Settings.model_fields.items()):
        command = _option(name, field)(command)
    return command


def _option(name: str, field: FieldInfo) -> Callable[[Callable[..., None]], Callable[..., None]]:
    flag = "--" + name.replace("_", "-").removesuffix("s" if name == "api_keys" else "")
    annotation: Any = field.annotation
    if annotation is bool:
        flag = f"{flag}/--no-{name.replace('_', '-')}"
    return click.option(
        flag,
        name,
        default=None,
        multiple=getattr(annotation, "__origin__", None) is list,
        type=bool if annotation is bool else str,
        help=f"{field.description}. [env: INTERLINGUA_{name.upper()}]",
    )


def read_settings(**flags: object) -> Settings:
    """Return the settings: flags first, then environment, `.env` and defaults.

    Raises:
        click.UsageError: One or more settings cannot work; all are named at once.
    """
    given = {name: list(v) if isinstance(v, tuple) else v for name, v in flags.items()}
    try:
        return Settings.model_validate({n: v for n, v in given.items() if v not in (None, [])})
    except ValidationError as error:
        lines = [
            f"  {'.'.join(map(str, problem['loc'])) or 'settings'}: {problem['msg']}"
            for problem in error.errors()
        ]
        raise click.UsageError("These settings cannot work:\n" + "\n".join(lines)) from None


@main.command()
@settings_options
def serve(**flags: object) -> None:
    """Start the server.

    Without any flag it serves the shipped models and the demo corpus on http://127.0.0.1:8000.

    \b
    Example: interlingua serve --port 9000 --data ./data --model ./my-bundle
    """
    settings = read_settings(**flags)
    from service.server import run_server

    sys.exit(run_server(settings))


@main.command()
@click.argument("texts", nargs=-1)
@click.option("--model", type=click.Path(path_type=Path), help="Bundle directory.")
@click.option("--dimensions", type=int, help="Keep only the first so many dimensions.")
@click.option("--language", help="Of all texts, for models with an encoder a language.")
def embed(
    texts: tuple[str, ...], model: Path | None, dimensions: int | None, language: str | None
) -> None:
    """Print the vector of each text, a JSON list a line; texts come as arguments or on stdin.

    \b
    Example: echo "Guten Morgen" | interlingua embed --dimensions 64
    """
    from service.inference.encoder import Encoder

    encoder = Encoder(model or _default_model())
    for chunk in _chunks(texts or _lines(sys.stdin), 1024):
        for vector in encoder.encode(chunk, dimensions=dimensions, language=language):
            click.echo(orjson.dumps(vector, option=orjson.OPT_SERIALIZE_NUMPY))


@main.command()
@click.argument("directories", nargs=-1, type=click.Path(path_type=Path))
def models(directories: tuple[Path, ...]) -> None:
    """List the shipped bundles, or those in DIRECTORIES, after checking every file."""
    from service.bundle.reader import read_bundle

    for directory in directories or shipped_models():
        manifest = read_bundle(directory).manifest
        size = sum(entry.bytes for entry in manifest.files.values())
        click.echo(
            f"{manifest.name}  {manifest.dimension} dimensions  {size / 1e6:.1f} MB  "
            f"{len(manifest.languages)} languages  {manifest.identity}  {directory}"
        )


def _default_model() -> Path:
    found = shipped_models()
    if not found:
        raise click.UsageError("No bundle is shipped with this installation; pass --model DIR.")
    return found[0]


def _lines(stream: IO[str]) -> Iterable[str]:
    return (line.rstrip("\r\n") for line in stream)


def _chunks(texts: Iterable[str], size: int) -> Iterable[list[str]]:
    chunk: list[str] = []
    for text in texts:
        chunk.append(text)
        if len(chunk) == size:
            yield chunk
            chunk = []
    if chunk:
        yield chunk
