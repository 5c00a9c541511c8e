"""Files of documents, or a pipe, record by record: JSON lines, CSV, TSV, Parquet, lines of text."""

from __future__ import annotations

import codecs
import csv
import gzip
import importlib
import io
import os
import re
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal, TypeAlias, cast, get_args

import orjson

from service.errors import InputError, MalformedError, SettingsError
from service.search.fields import FieldType, FieldTypes
from service.search.incoming import VECTOR_FIELD, Incoming, incoming_from_json

Format: TypeAlias = Literal["jsonl", "csv", "tsv", "parquet", "txt"]
FORMATS: tuple[Format, ...] = get_args(Format)
TABLES: tuple[Format, ...] = ("csv", "tsv")
"""Whose cells are all text."""
_BY_SUFFIX: Mapping[str, Format] = {
    ".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".tsv": "tsv", ".parquet": "parquet",
    ".txt": "txt",
}  # fmt: skip

_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,2})?")

PARQUET_ROWS = 1024
LONGEST_CELL = 1 << 24
STDIN = "-"


@dataclass(frozen=True, slots=True)
class FieldNames:
    """Which field of a record is what; all others become metadata.

    Attributes:
        id: `GeneratedIds` makes one where a record has none, or null.
        text: What is searched.
        language: Of the text, where a record says it.
        vector: Ready-made, where a record brings it.
    """

    id: str = "id"
    text: str = "text"
    language: str = "language"
    vector: str = VECTOR_FIELD


@contextmanager
def reading(path: str) -> Iterator[None]:
    """Turn what reading a file that is damaged or not there raises into InputError."""
    try:
        yield
    except (OSError, EOFError, zlib.error, UnicodeDecodeError, csv.Error) as error:
        raise _unreadable(path, error) from error


class GeneratedIds:
    """Ids for records that bring none: `news:3` is the third of news.jsonl.

    Args:
        paths: All inputs of a run.
    """

    def __init__(self, paths: Sequence[str]) -> None:
        self._stems = {path: _stem(path) for path in paths}
        self._paths: dict[str, list[str]] = {}
        for path in paths:
            self._paths.setdefault(self._stems[path], []).append(path)

    def make(self, path: str, number: int) -> str:
        """Return the id of a record of `path`.

        Raises:
            SettingsError: Records of another input would have the same, and replace these.
        """
        stem = self._stems[path]
        first, *others = self._paths[stem]
        if others:
            raise SettingsError(
                f"{first} and {others[0]} give their records the same ids: {stem}:1 and so on.",
                field="path",
                given=path,
                remedy="Rename one or leave it out, or give the records ids of their own "
                "(--id-field).",
            )
        return f"{stem}:{number}"


class Source:
    """The records of one file.

    Args:
        path: A file, `.gz` too; `-` for the standard input.
        format: Of its content; guessed from the name where None, JSON lines for a pipe.

    Raises:
        SettingsError: A format that cannot be guessed, or Parquet without pyarrow.
    """

    def __init__(self, path: str, format: Format | None = None) -> None:
        self.path = path
        self.format = format or _guess(path)
        if self.format == "parquet" and path == STDIN:
            raise SettingsError("Parquet is read from a file, not from a pipe.", field="path")
        self._raw: IO[bytes] | None = None
        self._rows_done = 0
        self._rows = 0

    @property
    def fraction(self) -> float | None:
        """How much was read, 0 to 1; None where that cannot be known."""
        if self._rows:
            return self._rows_done / self._rows
        if self._raw is None or self.path == STDIN:
            return None
        if self._raw.closed:
            return 1.0
        size = os.fstat(self._raw.fileno()).st_size
        return self._raw.tell() / size if size else None

    def names(self, given: FieldNames) -> FieldNames:
        """Return which field of its records is what: `given`, but a line is always its text."""
        return FieldNames() if self.format == "txt" else given

    def records(self) -> Iterator[tuple[int, object]]:
        """Yield (number from 1, record); a line of JSON or text that is broken is its own error.

        Raises:
            InputError: The file is not there, or damaged from here on.
            SettingsError: pyarrow is not installed.
        """
        with reading(self.path):
            if self.format == "parquet":
                yield from self._parquet()
                return
            with self._open() as stream:
                if self.format in TABLES:
                    yield from self._rows_of(stream)
                else:
                    yield from self._lines(stream)

    @contextmanager
    def _open(self) -> Iterator[IO[bytes]]:
        with ExitStack() as stack:
            if self.path == STDIN:
                self._raw = sys.stdin.buffer
            else:
                self._raw = stack.enter_context(Path(self.path).open("rb"))
            if self.path.endswith(".gz"):
                yield cast("IO[bytes]", stack.enter_context(gzip.GzipFile(fileobj=self._raw)))
            else:
                yield self._raw

    def _lines(self, stream: IO[bytes]) -> Iterator[tuple[int, object]]:
        for number, line in enumerate(stream, start=1):
            if number == 1:
                line = line.removeprefix(codecs.BOM_UTF8)  # which some editors and exports write
            if line.strip():
                yield number, _parsed(line) if self.format == "jsonl" else _text_of(line)

    def _rows_of(self, stream: IO[bytes]) -> Iterator[tuple[int, object]]:
        csv.field_size_limit(LONGEST_CELL)
        # No reader of `codecs`: it ends lines at all that Unicode calls a break, such as U+2028.
        decoded = io.TextIOWrapper(stream, encoding="utf-8-sig", newline="")
        try:
            rows = csv.DictReader(decoded, delimiter="," if self.format == "csv" else "\t")
            for number, row in enumerate(rows, start=1):
                # Cells past the header stand under None; short rows are filled with None.
                yield number, {key: cell for key, cell in row.items() if key and cell}
        finally:
            decoded.detach()  # or it would close the standard input

    def _parquet(self) -> Iterator[tuple[int, object]]:
        try:
            arrow: Any = importlib.import_module("pyarrow")
            parquet: Any = importlib.import_module("pyarrow.parquet")
        except ImportError:
            raise SettingsError(
                "Reading Parquet needs pyarrow.", remedy="Install it: pip install pyarrow."
            ) from None
        try:
            with parquet.ParquetFile(self.path) as file:
                self._rows = file.metadata.num_rows
                for batch in file.iter_batches(batch_size=PARQUET_ROWS):
                    for record in batch.to_pylist():
                        self._rows_done += 1
                        yield self._rows_done, {k: v for k, v in record.items() if v is not None}
        except arrow.ArrowException as error:
            raise _unreadable(self.path, error) from error


def to_incoming(
    record: object,
    *,
    make_id: Callable[[], str],
    names: FieldNames,
    language: str | None,
    dimension: int,
    fields: FieldTypes | None = None,
    table: bool = False,
) -> Incoming:
    """Return the document in a record.

    Args:
        record: Of a source.
        make_id: Called for its id where it brings none.
        names: Which field is what.
        language: Of the text where the record names none.
        dimension: Width of the corpus' vectors.
        fields: The metadata fields that the corpus declares; None where it takes any.
        table: Whether it is a row of CSV or TSV, whose cells are read as `fields` declares them.

    Raises:
        InputError: It is no document.
    """
    if isinstance(record, InputError):
        raise record
    if not isinstance(record, dict):
        raise MalformedError("A record is an object with a text.", given=record)
    metadata = record.get("metadata")
    known = {names.id, names.text, names.language, names.vector}
    if isinstance(metadata, dict):
        known.add("metadata")
    further = {key: value for key, value in record.items() if key not in known}
    if table and fields is not None:
        # A cell that is nothing of its type stays text, which is then refused by name.
        further = {name: _read_cell(cell, fields.get(name)) for name, cell in further.items()}
    document = {
        "id": own_id(record, names) or make_id(),
        "language": record.get(names.language) or language,
        "metadata": {**(metadata if isinstance(metadata, dict) else {}), **further},
    }
    if names.text in record:
        document["text"] = record[names.text]
    if record.get(names.vector) is not None:
        document[VECTOR_FIELD] = record[names.vector]
    return incoming_from_json(document, dimension=dimension, fields=fields)


def own_id(record: Mapping[str, object], names: FieldNames) -> str | None:
    """Return the id that a record brings; None where it is not there, null, or empty as in CSV."""
    id = record.get(names.id)
    return None if id is None or id == "" else str(id)


def _read_cell(cell: str, declared: FieldType | None) -> str | int | float | bool:
    written = cell.strip()
    if declared in ("integer", "number") and _INTEGER.fullmatch(written):
        return int(written)
    if declared == "number" and _NUMBER.fullmatch(written):
        return float(written)
    if declared == "boolean" and written.lower() in ("true", "false"):
        return written.lower() == "true"
    return cell


def _stem(path: str) -> str:
    """Return the name of a file without what says its format.

    A name with one dot ends there, whatever follows, so that ids of files with a format of their
    own (--format) stay what they were.
    """
    if path == STDIN:
        return "stdin"
    name = Path(path).name.removesuffix(".gz")
    stem, dot, suffix = name.rpartition(".")
    known = f".{suffix.lower()}" in _BY_SUFFIX
    return stem if dot and (known or "." not in stem) else name


def format_of(path: str) -> Format | None:
    """Return what the name says that the file holds; None where it does not say."""
    if path == STDIN:
        return "jsonl"
    return _BY_SUFFIX.get(Path(path.removesuffix(".gz")).suffix.lower())


def _guess(path: str) -> Format:
    format = format_of(path)
    if format is None:
        raise SettingsError(
            "The name does not say what the file holds.",
            field="path",
            given=path,
            remedy=f"Pass --format, one of {', '.join(FORMATS)}.",
        )
    return format


def _unreadable(path: str, error: Exception) -> InputError:
    return InputError(
        f"{path} cannot be read: {str(error).rstrip('.')}.",
        remedy="Mend it and run the command again: what is done is kept.",
    )


def _parsed(line: bytes) -> object:
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError as error:
        return MalformedError(f"This line is no JSON: {error}.")


def _text_of(line: bytes) -> object:
    try:
        return {"text": line.decode().rstrip("\r\n")}
    except UnicodeDecodeError as error:
        return MalformedError(f"This line is no UTF-8: {error}.")
