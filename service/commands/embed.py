"""`interlingua embed`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from service.commands.given_options import refuse_given
from service.commands.model_choice import chosen_model, model_option
from service.commands.pipes import chunks, lines
from service.commands.vector_output import VECTOR_FORMATS, VectorFormat, vector_writer
from service.wording import plural

if TYPE_CHECKING:
    from service.bulk.engines import EncoderChoice
    from service.bulk.run import Engine
    from service.bulk.sources import FieldNames

_CHUNK_TEXTS = 1024


@click.command()
@click.argument("texts", nargs=-1, metavar="[TEXT...] | INPUT...")
@model_option
@click.option("--dimensions", type=int, help="Keep only the first so many dimensions.")
@click.option("--language", help="Of all texts, for models with an encoder a language.")
@click.option("--prompt-name", help="Of the model's prompts, to be put before each text.")
@click.option(
    "--format",
    "output_format",
    type=click.Choice(VECTOR_FORMATS),
    default="jsonl",
    show_default=True,
    help="Of what is printed: a JSON list a line, NumPy's npy, or Parquet with text and vector.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="Encode the files INPUT... into Parquet files here; finished ones are kept.",
)
@click.option(
    "--engine",
    type=click.Choice(["local", "ray"]),
    default="local",
    show_default=True,
    help="With --out: in this process, or on a Ray cluster.",
)
@click.option("--ray-address", help="Of the cluster; one of this machine if left out.")
@click.option("--workers", type=int, help="Encoders on the cluster; one a core if left out.")
@click.option("--shard-rows", type=int, default=8192, show_default=True, help="Of a Parquet file.")
@click.option("--id-field", default="id", show_default=True, help="Of a record in INPUT.")
@click.option("--text-field", default="text", show_default=True, help="Of a record in INPUT.")
def embed(  # one parameter an option
    texts: tuple[str, ...],
    model: Path | None,
    dimensions: int | None,
    language: str | None,
    prompt_name: str | None,
    output_format: str,
    out: Path | None,
    engine: str,
    ray_address: str | None,
    workers: int | None,
    shard_rows: int,
    id_field: str,
    text_field: str,
) -> None:
    """Print the vector of each text; texts come as arguments or on stdin.

    With --out, encode whole files: JSON lines, CSV, TSV, Parquet, or .txt with a text a line. The
    Parquet files hold id and vector; a record without an id is called FILE:NUMBER, the file without
    .jsonl, .gz and the like. The same command resumes a run that was stopped.

    \b
    Example: echo "Guten Morgen" | interlingua embed --dimensions 64
    Example: interlingua embed --format npy < texts.txt > vectors.npy
    Example: interlingua embed corpus.jsonl more.parquet --out vectors --engine ray
    """
    context = click.get_current_context()
    if out is None:
        refuse_given(
            context,
            ("engine", "ray_address", "workers", "shard_rows", "id_field", "text_field"),
            "is of whole files: it needs --out DIR.",
        )
    else:
        refuse_given(context, ("output_format",), "is of what is printed: --out writes Parquet.")
        if engine != "ray":
            refuse_given(context, ("ray_address", "workers"), "is of a cluster: add --engine ray.")
    directory = chosen_model(model)
    if out is not None:
        from service.bulk.engines import EncoderChoice
        from service.bulk.run import Engine
        from service.bulk.sources import FieldNames

        _embed_files(
            texts,
            out,
            EncoderChoice(directory, dimensions, language, prompt_name),
            Engine("ray" if engine == "ray" else "local", ray_address, workers),
            FieldNames(id=id_field, text=text_field),
            shard_rows,
        )
        return
    from service.inference.encoder import Encoder
    from service.inference.request import check_dimensions

    encoder = Encoder(directory)
    check_dimensions(encoder.manifest, dimensions)
    prefix = encoder.prompt_prefix(prompt_name)
    writer = vector_writer(sys.stdout.buffer, cast("VectorFormat", output_format))
    # A file of no texts has columns and a width too.
    writer.write([], encoder.encode([], dimensions=dimensions, prefix=prefix))
    for chunk in chunks(texts or lines(sys.stdin), _CHUNK_TEXTS):
        vectors = encoder.encode(chunk, dimensions=dimensions, language=language, prefix=prefix)
        writer.write(chunk, vectors)
    writer.close()


def _embed_files(
    paths: tuple[str, ...],
    out: Path,
    choice: EncoderChoice,
    engine: Engine,
    names: FieldNames,
    shard_rows: int,
) -> None:
    from service.bulk.items import read_items
    from service.bulk.run import embed_items
    from service.commands.progress_line import ProgressLine

    if not paths:
        raise click.UsageError("With --out, name at least one file.")
    with ProgressLine("texts") as line:
        progress = embed_items(
            read_items(paths, names=names),
            out,
            choice=choice,
            engine=engine,
            shard_rows=shard_rows,
            report=lambda so_far: line.update(so_far.encoded + so_far.kept),
        )
        line.finish(progress.encoded + progress.kept)
    click.echo(
        f"{progress.encoded} {plural(progress.encoded, 'text')} encoded, {progress.kept} kept, in "
        f"{progress.shards} {plural(progress.shards, 'file')} of {out}"
    )
