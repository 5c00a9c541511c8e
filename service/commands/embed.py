"""`interlingua embed`."""

from __future__ import annotations

import sys
from pathlib import Path

import click
import orjson

from service.commands.model_choice import default_model
from service.commands.pipes import chunks, lines

_CHUNK_TEXTS = 1024


@click.command()
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

    encoder = Encoder(model or default_model())
    for chunk in chunks(texts or lines(sys.stdin), _CHUNK_TEXTS):
        for vector in encoder.encode(chunk, dimensions=dimensions, language=language):
            click.echo(orjson.dumps(vector, option=orjson.OPT_SERIALIZE_NUMPY))
