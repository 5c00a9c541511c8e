"""What goes through pipes: lines in, in chunks of a stated size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import IO, TypeVar

Item = TypeVar("Item")


def lines(stream: IO[str]) -> Iterator[str]:
    """Give the lines of `stream` without their ends."""
    return (line.rstrip("\r\n") for line in stream)


def chunks(items: Iterable[Item], size: int) -> Iterator[Sequence[Item]]:
    """Give `items` in lists of `size`, the last one shorter; nothing is read ahead."""
    iterator = iter(items)
    while chunk := list(islice(iterator, size)):
        yield chunk
