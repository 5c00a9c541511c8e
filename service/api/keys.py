"""The API keys: set at the start, or in a file that may change while the service runs."""

from __future__ import annotations

import hashlib
import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path

from service.settings import Settings

log = logging.getLogger(__name__)

CHECK_SECONDS = 1.0
"""How long a change of the file may take to be seen."""


class Keys:
    """The digests of the keys that are valid now.

    The file is looked at when a request comes, at most once a second, and read when it is another
    than before; so a key is added or revoked by writing the file, without a restart. Where it
    cannot be read any more the keys last read stay valid, and the log says so: a moment without
    the file must not lock everybody out. A file without keys does, on purpose.

    Args:
        settings: `api_keys` are valid always, those of `api_keys_file` while they stand in it.
        clock: Seconds that only move on.
    """

    def __init__(self, settings: Settings, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._fixed = tuple(digest(key.get_secret_value()) for key in settings.api_keys)
        self._file = settings.api_keys_file
        self._clock = clock
        self._lock = threading.Lock()
        self._seen: tuple[int, int, int] | None = None
        self._next_check = float("-inf")
        self._from_file: tuple[bytes, ...] = ()

    @property
    def open_to_all(self) -> bool:
        """Whether no key is asked for."""
        return not self._fixed and self._file is None

    def digests(self) -> tuple[bytes, ...]:
        """Return the digests of all valid keys."""
        if self._file is not None:
            with self._lock:
                if self._clock() >= self._next_check:
                    self._next_check = self._clock() + CHECK_SECONDS
                    self._refresh(self._file)
        return self._fixed + self._from_file

    def _refresh(self, file: Path) -> None:
        try:
            # The inode too: Kubernetes exchanges a mounted Secret by a link.
            status = file.stat()
            seen = (status.st_mtime_ns, status.st_size, status.st_ino)
            if seen == self._seen:
                return
            keys = read_keys(file)
        except (OSError, UnicodeDecodeError) as error:
            if self._seen is not None:
                log.error("the keys cannot be read again, the last ones stay valid: %s", error)
                self._seen = None
            return
        self._seen = seen
        self._from_file = tuple(map(digest, keys))
        log.info("read %d API keys", len(keys))


def read_keys(file: Path) -> list[str]:
    """Return the keys in `file`: one a line; empty lines and those after # are left out."""
    lines = map(str.strip, file.read_text(encoding="utf-8").splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def digest(text: str) -> bytes:
    """Return what a key is compared by, so that comparing tells nothing of its length."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
