"""`interlingua index`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from service.commands.corpora_directory import data_options


@click.command()
@click.argument("paths", nargs=-1, required=True)
@click.option("--corpus", required=True, help="Its name; it is made where it is not there.")
@click.option(
    "--format",
    type=click.Choice(["jsonl", "csv", "tsv", "parquet", "txt"]),
    help="Where the file's name does not say it.",
)
@click.option("--id-field", default="id", show_default=True, help="Field of the ids.")
@click.option("--text-field", default="text", show_default=True, help="Field of the texts.")
@click.option("--language-field", default="language", show_default=True, help="Of the languages.")
@click.option("--vector-field", default="vector", show_default=True, help="Of ready-made vectors.")
@click.option("--language", help="Of texts whose record names none.")
@click.option("--dimensions", type=int, help="For a new corpus: keep only the first so many.")
@click.option("--passage-words", type=int, help="For a new corpus: split longer texts.")
@click.option(
    "--field",
    "fields",
    multiple=True,
    metavar="NAME=TYPE",
    help="For a new corpus: a metadata field it declares (string, integer, number, boolean); "
    "others are then refused. Can be repeated.",
)
@click.option("--overwrite", is_flag=True, help="Encode again what is there already unchanged.")
@click.option("--strict", is_flag=True, help="Stop at the first record that is no document.")
@click.option("--quiet", is_flag=True, help="No progress.")
@data_options
def index(
    paths: tuple[str, ...],
    corpus: str,
    format: Literal["jsonl", "csv", "tsv", "parquet", "txt"] | None,
    id_field: str,
    text_field: str,
    language_field: str,
    vector_field: str,
    language: str | None,
    dimensions: int | None,
    passage_words: int | None,
    fields: tuple[str, ...],
    overwrite: bool,
    strict: bool,
    quiet: bool,
    data: Path | None,
    model: Path | None,
) -> None:
    """Put the documents of files into a corpus: jsonl, csv, tsv, parquet, txt, .gz; - for a pipe.

    A line of txt is a text, in the language that --language names.
    Fields other than id, text, language and vector become metadata. A document that is there
    already, word for word, is not encoded again: to resume a run that broke off, run it again.
    The third record of news.2024.jsonl is news.2024:3 where it has no id.

    \b
    Example: interlingua index books.csv --corpus books --text-field title --language de
    """
    # Here, since the commands that need no encoder must not wait for one to be imported.
    from service.commands.index_run import FieldNames, NewCorpus, Reader, run_index

    run_index(
        paths,
        corpus,
        Reader(
            FieldNames(id_field, text_field, language_field, vector_field),
            language=language,
            strict=strict,
        ),
        NewCorpus(dimensions, passage_words, fields),
        format=format,
        overwrite=overwrite,
        quiet=quiet,
        data=data,
        model=model,
    )
