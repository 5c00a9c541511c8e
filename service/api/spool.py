"""A streamed body, read to its end before anything of it is used."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Callable
from typing import IO

import anyio.to_thread

from service.errors import InputError, StorageError

IN_MEMORY_BYTES = 8 << 20
"""Up to here it stays in memory; beyond, a temporary file holds it."""


async def checked_lines(
    lines: AsyncIterator[tuple[int, bytes]], check: Callable[[bytes], object]
) -> AsyncIterator[tuple[int, bytes]]:
    """Yield the numbered `lines` once all of them have passed `check`.

    Raises:
        InputError: What `check` raised first, with the line's number in the field.
        StorageError: The temporary file cannot be written.
    """
    with tempfile.SpooledTemporaryFile(max_size=IN_MEMORY_BYTES) as spool:
        numbers = 0
        async for number, line in lines:
            try:
                check(line)
            except InputError as error:
                error.field = place_in_line(number, error.field)
                correct = error.remedy or "Correct the line."
                error.remedy = f"{correct} Nothing was stored; broken=skip stores the other lines."
                raise
            await _write(spool, b"%d %s\n" % (number, line.strip()))
            numbers += 1
        await anyio.to_thread.run_sync(spool.seek, 0)
        for _ in range(numbers):
            number_text, _, line = (await _read(spool)).partition(b" ")
            yield int(number_text), line


def place_in_line(number: object, field: object) -> str:
    """Return where `field` of a document, or of a line that is none, stands in a stream."""
    return f"line {number}" + str(field or "").removeprefix("document").removeprefix("line")


async def _write(spool: IO[bytes], content: bytes) -> None:
    # Short, and into the page cache: a thread for each line would cost more.
    try:
        spool.write(content)
    except OSError as error:
        raise StorageError(
            f"The body cannot be kept until it is checked: {error.strerror}.",
            remedy="Free some space for temporary files, or send broken=skip.",
        ) from error


async def _read(spool: IO[bytes]) -> bytes:
    return spool.readline()
