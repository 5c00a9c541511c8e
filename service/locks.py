"""Locks between processes, which one that dies lets go of."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def locked(path: Path, *, wait: bool = True) -> Iterator[None]:
    """Hold the lock of the file or directory `path`, which is there.

    Raises:
        BlockingIOError: Another process holds it, and it is not waited for.
        ImportError: This is no POSIX system.
        OSError: The disk refused.
    """
    import fcntl  # POSIX alone has it

    descriptor = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)
