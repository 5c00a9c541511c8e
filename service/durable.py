"""Files that survive a power cut once they were acknowledged."""

from __future__ import annotations

import os
from pathlib import Path


def write_durably(path: Path, content: bytes) -> None:
    """Write a new file and bring its bytes to the disk; its name is its directory's to `sync`.

    Raises:
        OSError: The disk refused.
    """
    with path.open("xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


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
