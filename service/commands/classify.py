"""`interlingua classify`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
import orjson

from service.commands.model_choice import chosen_model, model_option
from service.commands.pipes import chunks, lines
from service.errors import InputError, NotFoundError
from service.shipped import shipped_heads

if TYPE_CHECKING:
    from service.classification.head import Head
    from service.inference.encoder import Encoder
    from service.inference.session import Vectors

_CHUNK_TEXTS = 1024
_DEFAULT = "topic"


@click.command()
@click.argument("texts", nargs=-1)
@click.option(
    "--classifier", default=None,
    help=f"Name of a shipped one, or a head's directory. [default: {_DEFAULT}]",
)  # fmt: skip
@click.option(
    "--label", "labels", multiple=True, metavar="LABEL=WORDS",
    help="In place of a classifier: a label described in words; give two or more.",
)  # fmt: skip
@click.option(
    "--top-k", type=click.IntRange(1), default=1, show_default=True, help="Labels a text."
)
@click.option("--document", is_flag=True, help="Split each text into sentences and pool these.")
@model_option
@click.option("--language", help="Of all texts, for models with an encoder a language.")
def classify(
    texts: tuple[str, ...],
    classifier: str | None,
    labels: tuple[str, ...],
    top_k: int,
    document: bool,
    model: Path | None,
    language: str | None,
) -> None:
    """Print the labels of each text, a JSON list a line; texts come as arguments or on stdin.

    A classifier of pairs takes the two texts of a line with a tab between them.

    \b
    Example: interlingua classify "Die Mannschaft gewann das Endspiel."
             interlingua classify --label "sport=football, athletes" --label "law=courts" < texts
    """
    from service.classification.head import read_head
    from service.classification.making import described_head
    from service.inference.encoder import Encoder

    if labels and classifier:
        raise click.UsageError("Give --classifier or --label, not both.")
    encoder = Encoder(chosen_model(model))
    if labels:
        head = described_head(_described(labels), encoder)
    else:
        head = read_head(_head_directory(classifier or _DEFAULT))
        head.require_space(encoder.manifest.space, model=encoder.name)
    for chunk in chunks(texts or lines(sys.stdin), _CHUNK_TEXTS):
        for row in _classify(head, encoder, chunk, top_k, document=document, language=language):
            click.echo(orjson.dumps(row))


def _classify(
    head: Head,
    encoder: Encoder,
    texts: Sequence[str],
    top_k: int,
    *,
    document: bool,
    language: str | None,
) -> list[list[dict[str, object]]]:
    from service.classification.answers import best_labels
    from service.inference.documents import DocumentOptions, encode_documents

    options = DocumentOptions() if document else head.manifest.document

    def encode(parts: Sequence[str]) -> Vectors:
        if options is not None:
            return encode_documents(encoder, parts, options, language=language)
        return encoder.encode(parts, language=language, normalize=True)

    if not head.takes_pairs:
        return best_labels(head, head.predict(encode(texts)), top_k)
    pairs = [text.split("\t") for text in texts]
    for pair, text in zip(pairs, texts, strict=True):
        if len(pair) != 2:
            raise InputError(
                f"{head.name} takes pairs: two texts with a tab between them.", given=text
            )
    first, second = encode([pair[0] for pair in pairs]), encode([pair[1] for pair in pairs])
    return best_labels(head, head.predict(first, second), top_k)


def _head_directory(name: str) -> Path:
    if Path(name).is_dir():
        return Path(name)
    shipped = {path.name: path for path in shipped_heads()}
    if name not in shipped:
        raise NotFoundError(
            "This is no directory and no shipped classifier.",
            field="classifier",
            given=name,
            remedy=f"There are: {', '.join(shipped) or 'none'}.",
        )
    return shipped[name]


def _described(labels: Sequence[str]) -> dict[str, str]:
    described = {}
    for label in labels:
        name, _, words = label.partition("=")
        if not name.strip():
            raise click.UsageError(f"--label is LABEL=WORDS, not {label!r}.")
        described[name.strip()] = words.strip()
    if len(described) < 2:
        raise click.UsageError("Two labels are the least: give --label twice or more.")
    return described
