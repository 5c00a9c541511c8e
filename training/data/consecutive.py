"""Running text: a sentence a line, in order, an empty line between documents."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from training.data.lines import BrokenLines, read_lines


def read_documents(path: Path, broken: BrokenLines) -> Iterator[list[str]]:
    """Yield the sentences of each document; a broken line ends one, for order is lost there."""
    document: list[str] = []
    for line in read_lines(path, broken):
        if line and line.strip():
            document.append(line)
        elif document:
            yield document
            document = []
    if document:
        yield document


def neighbours(document: list[str]) -> Iterator[tuple[str, str, str]]:
    """Yield each sentence with its predecessor and its successor, in the order they stand."""
    yield from zip(document, document[1:], document[2:], strict=False)
