"""The file that an index is kept in: written whole or not at all, and known when it is damaged.

    magic 8 bytes | header length uint32 | header JSON | keys int64 [rows] | FAISS | sha256 32 bytes

All numbers are little-endian; the hash is of everything before it. The store is the truth and an
index can always be built from it, so nothing here is synced to disk: after a power cut a torn file
fails its hash and is built again.
"""

from __future__ import annotations

import hashlib
import os
import struct
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, Literal

import numpy as np
from pydantic import ValidationError

from service.bundle.manifest import Part
from service.errors import StorageError
from service.search.native import faiss
from service.search.snapshot import Keys

_MAGIC = b"ILINDEX1"
_LENGTH = struct.Struct("<I")
_HASH_BYTES = 32
_MAX_HEADER_BYTES = 65_536


class IndexHeader(Part):
    """What an index file holds."""

    kind: Literal["flat"]
    dimension: int
    rows: int
    generation: int


def write_index_file(path: Path, header: IndexHeader, keys: Keys, index: Any) -> None:  # noqa: ANN401 - faiss.Index; FAISS has no types
    """Write `keys` and the FAISS `index` to `path`, replacing what was there in one step.

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
            faiss.write_index(index, faiss.PyCallbackIOWriter(write))
            file.write(digest.digest())
        staging.replace(path)
    except (OSError, RuntimeError) as error:  # FAISS raises RuntimeError for a failed write
        with suppress(OSError):
            staging.unlink(missing_ok=True)
        raise StorageError(f"The index {path} cannot be written: {error}.") from error


def read_index_file(path: Path) -> tuple[IndexHeader, Keys, Any]:
    """Return the header, the keys and the FAISS index in `path`.

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
        try:
            index = faiss.read_index(faiss.PyCallbackIOReader(file.read))
        except RuntimeError as error:
            raise _damaged(path, f"FAISS cannot read it: {error}") from None
    if not len(keys) == index.ntotal == header.rows or index.d != header.dimension:
        raise _damaged(path, "its parts do not agree")
    return header, keys, index


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
    return StorageError(f"The index {path} is damaged: {reason}.", remedy="It is built again.")
