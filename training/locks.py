"""One process at a time makes what several ask for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from service.errors import ConflictError


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Keep other processes from making `path` meanwhile; its lock lies beside it."""
    import fcntl  # POSIX alone has it; runs that share nothing need none

    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_name(f"{path.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def sole(path: Path) -> Iterator[None]:
    """Be the only process that works on the run whose file `path` is.

    Raises:
        ConflictError: Another one does.
    """
    try:
        import fcntl
    except ImportError:  # as above
        yield
        return
    with path.open() as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ConflictError(
                f"Another process trains in {path.parent} now.",
                field="--out",
                given=str(path.parent),
                remedy="Wait until it is done, or name another directory.",
            ) from None
        yield
