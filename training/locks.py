"""One process at a time makes what several ask for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from service.errors import ConflictError
from service.locks import locked


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Keep other processes from making `path` meanwhile; its lock lies beside it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = path.with_name(f"{path.name}.lock")
    lock.touch()
    with locked(lock):
        yield


@contextmanager
def sole(path: Path) -> Iterator[None]:
    """Be the only process that works in the directory of the lock `path`, which is made.

    Raises:
        ConflictError: Another one does.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    with ExitStack() as held:
        try:
            held.enter_context(locked(path, wait=False))
        except ImportError:
            pass  # without locks two runs in one directory are not told apart
        except BlockingIOError:
            raise ConflictError(
                f"Another process trains in {path.parent} now.",
                field="--out",
                given=str(path.parent),
                remedy="Wait until it is done, or name another directory.",
            ) from None
        yield
