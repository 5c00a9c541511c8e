"""What goes through pipes: lines in, in chunks of a stated size."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import IO, TypeVar

from service.errors import InputError

Item = TypeVar("Item")


def lines(stream: IO[str]) -> Iterator[str]:
    """Give the lines of `stream` without their ends.

    Raises:
        InputError: They are not in the stream's encoding.
    """
    if isinstance(stream, io.TextIOWrapper):
        # In the locales C and C.UTF-8 it would let other bytes through as surrogates.
        stream.reconfigure(errors="strict")
    try:
        for line in stream:
            yield line.rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise InputError(
            f"The standard input is no {error.encoding.upper()}: {error.reason}.",
            remedy="Convert it: iconv -f latin1 -t utf-8.",
        ) from None


def chunks(items: Iterable[Item], size: int) -> Iterator[Sequence[Item]]:
    """Give `items` in lists of `size`, the last one shorter; nothing is read ahead."""
    iterator = iter(items)
    while chunk := list(islice(iterator, size)):
        yield chunk
