"""Vectors on the way out of a pipe: JSON lines, NumPy's npy, or Parquet."""

from __future__ import annotations

import importlib
import io
from collections.abc import Sequence
from typing import IO, TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, get_args

import click
import orjson

from service.errors import SettingsError

if TYPE_CHECKING:
    from service.inference.session import Vectors

VectorFormat: TypeAlias = Literal["jsonl", "npy", "parquet"]
VECTOR_FORMATS: tuple[VectorFormat, ...] = get_args(VectorFormat)


class VectorWriter(Protocol):
    """Takes vectors as they are made."""

    def write(self, texts: Sequence[str], vectors: Vectors) -> None:
        """Take some: float32 [texts, dimension]."""
        ...

    def close(self) -> None:
        """Write what is left."""
        ...


def vector_writer(stream: IO[bytes], format: VectorFormat) -> VectorWriter:
    """Return the writer of a format.

    Raises:
        click.UsageError: Bytes for a terminal.
        SettingsError: Parquet without pyarrow.
    """
    if format == "jsonl":
        return _JsonLines(stream)
    if stream.isatty():
        raise click.UsageError(f"{format} is not for a terminal: add  > vectors.{format}")
    return _Npy(stream) if format == "npy" else _Parquet(stream)


class _JsonLines:
    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream

    def write(self, texts: Sequence[str], vectors: Vectors) -> None:  # noqa: ARG002
        options = orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_APPEND_NEWLINE
        for vector in vectors:
            self._stream.write(orjson.dumps(vector, option=options))
        self._stream.flush()

    def close(self) -> None:
        pass


class _Npy:
    """The number of rows stands in the head of the file, so all are held until the end."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._parts: list[Vectors] = []

    def write(self, texts: Sequence[str], vectors: Vectors) -> None:  # noqa: ARG002
        self._parts.append(vectors)

    def close(self) -> None:
        import numpy as np

        rows = np.concatenate(self._parts) if self._parts else np.zeros((0, 0), np.float32)
        held = io.BytesIO()  # np.save asks a real file for its place, which a pipe has not
        np.save(held, rows)
        self._stream.write(held.getbuffer())
        self._stream.flush()


class _Parquet:
    """Columns text and vector; a row group for each write."""

    def __init__(self, stream: IO[bytes]) -> None:
        try:
            self._arrow: Any = importlib.import_module("pyarrow")
            self._parquet: Any = importlib.import_module("pyarrow.parquet")
        except ImportError:
            raise SettingsError(
                "Writing Parquet needs pyarrow.", remedy="pip install 'interlingua[bulk]'."
            ) from None
        self._stream = _Counted(stream)
        self._writer: Any = None

    def write(self, texts: Sequence[str], vectors: Vectors) -> None:
        arrow = self._arrow
        flat = arrow.array(vectors.ravel())
        column = arrow.FixedSizeListArray.from_arrays(flat, vectors.shape[1])
        table = arrow.table({"text": arrow.array(list(texts), arrow.string()), "vector": column})
        if self._writer is None:
            self._writer = self._parquet.ParquetWriter(self._stream, table.schema)
        self._writer.write_table(table)

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()


class _Counted(io.RawIOBase):
    """A pipe that knows how much went through it, which the footer of Parquet needs."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._bytes = 0

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._bytes

    def write(self, data: Any) -> int:  # noqa: ANN401 - whatever has a buffer
        written = memoryview(data).nbytes
        self._stream.write(data)
        self._bytes += written
        return written

    def flush(self) -> None:
        self._stream.flush()
