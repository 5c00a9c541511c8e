"""The file that an index is kept in: written whole or not at all, and known when it is damaged.

    magic 8 bytes | header length uint32 | header JSON | keys int64 [rows] | alive bits [rows]
    | FAISS: the tail | FAISS: the clusters, where there are any | sha256 32 bytes

All numbers are little-endian; the hash is of everything before it. The store is the truth and an
index can always be built from it, so nothing here is synced to disk: after a power cut a torn file
fails its hash and is built again.
"""

from __future__ import annotations

import hashlib
import os
import struct
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
from pydantic import ValidationError

from service.bundle.manifest import Part
from service.errors import StorageError
from service.search.native import faiss
from service.search.snapshot import Keys

_MAGIC = b"ILINDEX2"
_LENGTH = struct.Struct("<I")
_HASH_BYTES = 32
_MAX_HEADER_BYTES = 65_536

damaged_files: deque[str] = deque(maxlen=1000)
"""The corpora whose index file this process has met damaged, the latest last; for the metrics."""


class IndexHeader(Part):
    """What an index file holds."""

    dimension: int
    rows: int
    generation: int
    clustered: int = 0  # so many of the rows are in clusters, the rest in the tail
    built: int = 0  # rows that the clusters were made for
    probes: int = 1
    first_pass: int = 1
    recall: float = 1.0


@dataclass(frozen=True, slots=True)
class SavedIndex:
    """An index file's content: its keys, which rows are not removed, and one or two FAISS parts."""

    header: IndexHeader
    keys: Keys
    alive: npt.NDArray[np.bool_]
    parts: tuple[Any, ...]


def write_index_file(
    path: Path,
    header: IndexHeader,
    keys: Keys,
    alive: npt.NDArray[np.bool_],
    parts: Sequence[Any],
) -> None:
    """Write `keys`, `alive` and the FAISS `parts` to `path`, replacing what was there in one step.

    Raises:
        StorageError: The disk refused; what was there stays.
    """
    staging = path.with_name(path.name + ".new")
    try:
        with staging.open("wb") as file:
            digest = hashlib.sha256()
            write = _hashing(file, digest.update)
            encoded = header.model_dump_json().encode()
            write(_MAGIC + _LENGTH.pack(len(encoded)) + encoded)
            write(keys.astype("<i8").tobytes())
            write(np.packbits(alive, bitorder="little").tobytes())
            for part in parts:
                faiss.write_index(part, faiss.PyCallbackIOWriter(write))
            file.write(digest.digest())
        staging.replace(path)
    except (OSError, RuntimeError) as error:  # FAISS raises RuntimeError for a failed write
        with suppress(OSError):
            staging.unlink(missing_ok=True)
        raise StorageError(f"The index cannot be written: {error}.", path=path) from error


def read_index_file(path: Path) -> SavedIndex:
    """Return what `path` holds.

    Raises:
        FileNotFoundError: There is none.
        StorageError: It is damaged.
    """
    with path.open("rb") as file:
        # FAISS trusts what it reads, so it is given nothing whose hash was not checked.
        end = _verified_length(path, file)
        start = len(_MAGIC) + _LENGTH.size
        file.seek(len(_MAGIC))
        (length,) = _LENGTH.unpack(file.read(_LENGTH.size))
        if length > min(_MAX_HEADER_BYTES, end - start):
            raise _damaged(path, "its header is cut")
        try:
            header = IndexHeader.model_validate_json(file.read(length))
        except ValidationError as error:
            raise _damaged(path, f"its header is not understood: {error}") from None
        keys = np.frombuffer(file.read(8 * header.rows), dtype="<i8").astype(np.int64)
        bits = np.frombuffer(file.read((header.rows + 7) // 8), dtype=np.uint8)
        alive = np.unpackbits(bits, bitorder="little")[: header.rows].astype(np.bool_)
        try:
            parts = tuple(
                faiss.read_index(faiss.PyCallbackIOReader(file.read))
                for _ in range(1 + bool(header.clustered))
            )
        except RuntimeError as error:
            raise _damaged(path, f"FAISS cannot read it: {error}") from None
    sizes = [header.rows - header.clustered, header.clustered]
    if len(keys) != header.rows or any(
        part.ntotal != size or part.d != header.dimension
        for part, size in zip(parts, sizes, strict=False)
    ):
        raise _damaged(path, "its parts do not agree")
    return SavedIndex(header, keys, alive, parts)


def _hashing(file: BinaryIO, update: Callable[[bytes], None]) -> Callable[[bytes], None]:
    def write(content: bytes) -> None:
        update(content)
        file.write(content)

    return write


def _verified_length(path: Path, file: BinaryIO) -> int:
    size = os.fstat(file.fileno()).st_size
    if size < len(_MAGIC) + _LENGTH.size + _HASH_BYTES or file.read(len(_MAGIC)) != _MAGIC:
        raise _damaged(path, "it is no index file")
    digest = hashlib.sha256(_MAGIC)
    left = size - len(_MAGIC) - _HASH_BYTES
    while left:
        chunk = file.read(min(left, 1 << 20))
        if not chunk:
            raise _damaged(path, "it was cut while it was read")
        digest.update(chunk)
        left -= len(chunk)
    if digest.digest() != file.read(_HASH_BYTES):
        raise _damaged(path, "its hash differs")
    return size - _HASH_BYTES


def _damaged(path: Path, reason: str) -> StorageError:
    damaged_files.append(path.parent.name)
    return StorageError(f"The index is damaged: {reason}.", path=path, remedy="It is built again.")
