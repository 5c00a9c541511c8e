"""`interlingua embed INPUT... --out DIR`: from files to shards."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from service.bulk.engines import EncoderChoice, encode_here, encode_on_ray
from service.bulk.items import Item
from service.bulk.shards import Output, Shard, cut
from service.errors import InputError
from service.huggingface.bundle import read_model
from service.inference.encoder import prompt_prefix
from service.inference.request import check_dimensions

EngineName: TypeAlias = Literal["local", "ray"]

SHARD_ROWS = 8_192
"""Vectors of 384 numbers: 12 MB a shard."""


@dataclass(frozen=True, slots=True)
class Engine:
    """Where to encode.

    Attributes:
        name: In this process, or on Ray.
        address: Of the Ray cluster.
        workers: Actors on it.
    """

    name: EngineName = "local"
    address: str | None = None
    workers: int | None = None


@dataclass(slots=True)
class Progress:
    """Items so far."""

    encoded: int = 0
    kept: int = 0  # in shards that were there already
    shards: int = 0


def embed_items(
    items: Iterable[Item],
    directory: Path,
    *,
    choice: EncoderChoice,
    engine: Engine | None = None,
    shard_rows: int = SHARD_ROWS,
    report: Callable[[Progress], None] | None = None,
) -> Progress:
    """Write the vectors of `items` to Parquet files in `directory`; shards that are there stay.

    Args:
        items: In order; the same items cut by the same `shard_rows` give the same files.
        directory: Made if it is not there.
        choice: The encoder.
        engine: Where to encode; in this process where None.
        shard_rows: Items of a file.
        report: Called after each shard.

    Raises:
        InputError: Dimensions or a prompt that the model does not have, a shard without rows, or a
            cluster without workers.
        BundleError: There is no such model, or it cannot be trusted or served.
        SettingsError: pyarrow or Ray is not installed.
        BackendError: No cluster is there, or a shard failed again and again.
        StorageError: The disk refused.
    """
    manifest = read_model(choice.model).manifest
    dimensions = check_dimensions(manifest, choice.dimensions)
    if shard_rows < 1:
        raise InputError("A shard has at least 1 row.", field="shard_rows", given=shard_rows)
    engine, told = engine or Engine(), report or (lambda _: None)
    if engine.workers is not None and engine.workers < 1:
        raise InputError("A cluster has at least 1 worker.", field="workers", given=engine.workers)
    prefix = prompt_prefix(manifest, choice.prompt)
    output, progress = Output(directory), Progress()

    def missing() -> Iterator[Shard]:
        for shard in cut(
            items,
            shard_rows,
            model=manifest.identity,
            dimensions=dimensions,
            language=choice.language,
            prefix=prefix,
        ):
            progress.shards += 1
            if output.has(shard):
                progress.kept += len(shard.items)
                told(progress)
            else:
                yield shard

    encoded = (
        encode_here(missing(), choice)
        if engine.name == "local"
        else encode_on_ray(missing(), choice, address=engine.address, workers=engine.workers)
    )
    for shard, vectors in encoded:
        output.write(shard, vectors)
        progress.encoded += len(shard.items)
        told(progress)
    output.trim(progress.shards)
    return progress
