"""Files that survive a power cut once they were acknowledged."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Literal

STAGED = ".part"
"""Ends the name of a file that is still being written, and of one that a break left so."""


def write_durably(path: Path, content: bytes) -> None:
    """Write a new file and bring its bytes to the disk; its name is its directory's to `sync`.

    Raises:
        OSError: The disk refused.
    """
    _write(path, content, "xb")


def replace_durably(path: Path, content: bytes) -> None:
    """Write `path` at once: what is read there is the old file or the new one, and no half is left.

    Raises:
        OSError: The disk refused; what was there stays.
    """
    staging = path.with_name(f".{path.name}.{os.getpid()}{STAGED}")
    try:
        _write(staging, content, "wb")  # over what a killed process of the same number left
        staging.replace(path)
    finally:
        with suppress(OSError):  # a refusal of the disk is what is to be heard of
            staging.unlink(missing_ok=True)


def sync(path: Path) -> None:
    """Bring to the disk what a file holds, or the names that a directory holds.

    Raises:
        OSError: The disk refused.
    """
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _write(path: Path, content: bytes, mode: Literal["xb", "wb"]) -> None:
    with path.open(mode) as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
