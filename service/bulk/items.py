"""What is to be encoded: the records of files, one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from service.bulk.sources import (
    STDIN,
    FieldNames,
    Format,
    GeneratedIds,
    Source,
    format_of,
    own_id,
)
from service.errors import InputError, NotFoundError


@dataclass(frozen=True, slots=True)
class Item:
    """A text and what it is called; `language` where the record says it."""

    id: str
    text: str
    language: str | None = None


def read_items(
    paths: Sequence[str], *, names: FieldNames, format: Format | None = None
) -> Iterator[Item]:
    """Yield the items of all files, in order; a record without an id is called `file:number`.

    Args:
        paths: JSON lines, CSV, TSV or Parquet, as their names say; `.txt` is a text a line. Each
            but Parquet may be compressed: `.gz`.
        names: Which field of a record is what.
        format: Of all files, where the names do not say it.

    Raises:
        InputError: A record that has no text, or is broken, with its file and number; or a file
            that is damaged, or whose name does not say what it holds.
        NotFoundError: A file that is not there.
        SettingsError: Two files whose records would get the same ids.
    """
    ids = GeneratedIds(paths)
    for path in paths:
        if path != STDIN and not Path(path).is_file():
            raise NotFoundError("There is no such file.", field="INPUT", given=path)
        kind = format or format_of(path)
        if kind is None:
            raise InputError(
                "The name does not say what the file holds.",
                field="INPUT",
                given=path,
                remedy="Rename it, to end in .jsonl, .csv, .tsv, .parquet or .txt (and .gz).",
            )
        source = Source(path, kind)
        yield from _records(source, source.names(names), ids)


def _records(source: Source, names: FieldNames, ids: GeneratedIds) -> Iterator[Item]:
    for number, record in source.records():
        if isinstance(record, InputError):
            raise _broken(source.path, number, record.message)
        if not isinstance(record, dict):
            raise _broken(source.path, number, "it is no object")
        text = record.get(names.text)
        if not isinstance(text, str) or not text.strip():
            raise _broken(source.path, number, f"it has no text in the field {names.text!r}")
        language = record.get(names.language)
        yield Item(
            own_id(record, names) or ids.make(source.path, number),
            text,
            language if isinstance(language, str) else None,
        )


def _broken(path: str, number: int, reason: str) -> InputError:
    return InputError(
        f"Record {number} of {path} cannot be encoded: {reason}.",
        field="INPUT",
        remedy="Correct it, or name the field: --text-field.",
    )
