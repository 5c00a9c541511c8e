"""The output: Parquet files of ids and vectors, each written whole or not at all.

A shard carries a digest of what it was made of: ids, texts and their languages, the model's
weights, the number of dimensions. A run that finds a shard of the same digest leaves it; so a run
that was killed, or one over files of which the last grew, encodes what is missing and no more.
"""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from service.bulk.items import Item
from service.errors import InputError, SettingsError, StorageError
from service.inference.session import Vectors

DIGEST = b"interlingua.digest"
NAME = "part-{:06}.parquet"


@dataclass(frozen=True, slots=True)
class Shard:
    """Some items that are encoded and written together; `number` from 0."""

    number: int
    items: tuple[Item, ...]
    digest: str


def cut(
    items: Iterable[Item],
    rows: int,
    *,
    model: str,
    dimensions: int,
    language: str | None = None,
    prefix: str = "",
) -> Iterator[Shard]:
    """Yield `items` in shards of `rows`, the last one shorter.

    Args:
        items: In order.
        rows: Of a shard.
        model: Identity of the encoder's weights.
        dimensions: Of the vectors.
        language: Of texts that name none; a model with an encoder a language tells them apart.
        prefix: What is put before each text.
    """
    iterator = iter(items)
    number = 0
    while part := tuple(islice(iterator, rows)):
        digest = hashlib.sha256(f"{model}\0{dimensions}\0".encode())
        for item in part:
            for field in (item.id, prefix + item.text, item.language or language or ""):
                encoded = field.encode()
                digest.update(len(encoded).to_bytes(8, "little") + encoded)
        yield Shard(number, part, digest.hexdigest())
        number += 1


class Output:
    """The directory that shards are written to.

    Args:
        directory: Made if it is not there.

    Raises:
        SettingsError: pyarrow is not installed.
        InputError: It is something else than a directory: a pipe, say.
        StorageError: The directory cannot be made.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        try:
            self._arrow: Any = importlib.import_module("pyarrow")
            self._parquet: Any = importlib.import_module("pyarrow.parquet")
        except ImportError:
            raise SettingsError(
                "Writing Parquet needs pyarrow.", remedy="pip install 'interlingua[bulk]'"
            ) from None
        if directory.exists() and not directory.is_dir():
            raise InputError(
                "Vectors of files go into a directory, as several Parquet files; this is none.",
                field="out",
                given=str(directory),
                remedy="Name a directory. For a pipe there is: "
                "interlingua embed --format npy < texts.txt",
            )
        try:
            directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StorageError(
                f"The directory cannot be made: {error.strerror}.", path=directory
            ) from error

    def has(self, shard: Shard) -> bool:
        """Whether `shard` is there, made of the same."""
        path = self.directory / NAME.format(shard.number)
        try:
            metadata = self._parquet.read_schema(path).metadata or {}
        except (OSError, self._arrow.ArrowInvalid):
            return False
        return bool(metadata.get(DIGEST) == shard.digest.encode())

    def write(self, shard: Shard, vectors: Vectors) -> None:
        """Write `shard` with its vectors float32 [items, dimensions], replacing what was there.

        Raises:
            StorageError: The disk refused; what was there stays.
        """
        arrow = self._arrow
        flat = arrow.array(np.ascontiguousarray(vectors, dtype=np.float32).ravel())
        table = arrow.table(
            {
                "id": arrow.array([item.id for item in shard.items], arrow.string()),
                "vector": arrow.FixedSizeListArray.from_arrays(flat, vectors.shape[1]),
            }
        ).replace_schema_metadata({DIGEST: shard.digest.encode()})
        path = self.directory / NAME.format(shard.number)
        staging = path.with_name(f".{path.name}.new")
        try:
            # Vectors hardly compress, and ids of a shard are few.
            self._parquet.write_table(table, staging, compression="none", use_dictionary=False)
            staging.replace(path)
        except OSError as error:
            with suppress(OSError):
                staging.unlink(missing_ok=True)
            raise StorageError(
                f"A shard cannot be written: {error.strerror or error}.",
                path=path,
                remedy="Free some space and start it again: finished shards are kept.",
            ) from error

    def trim(self, shards: int) -> int:
        """Delete what an earlier run over more items left past `shards`; return how many."""
        left = [
            path
            for path in self.directory.glob("part-*.parquet")
            if path.stem[5:].isdecimal() and int(path.stem[5:]) >= shards
        ]
        for path in left:
            path.unlink(missing_ok=True)
        return len(left)
