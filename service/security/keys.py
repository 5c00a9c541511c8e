"""The API keys: set at the start, or in a file that may change while the service runs."""

from __future__ import annotations

import hmac
import logging
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from service.errors import InputError
from service.security.grants import EVERYTHING, Grant, Key, digest_of, read_line

log = logging.getLogger(__name__)

CHECK_SECONDS = 1.0
"""How long a change of the file may take to be seen."""


class Keys:
    """The keys that are valid now.

    The file is looked at when a request comes, at most once a second, and read when it is another
    than before; so a key is added or revoked by writing the file, without a restart. Where it
    cannot be read any more the keys last read stay valid, and the log says so: a moment without
    the file must not lock everybody out. A file without keys does, on purpose. A line that is not
    understood opens nothing, and the others count.

    Args:
        fixed: Keys that are valid always, plain or as their digest.
        file: Further keys, valid while they stand in it.
        clock: Seconds that only move on.

    Raises:
        InputError: One of `fixed`, or at the start a line of `file`, is not understood.
    """

    def __init__(
        self,
        fixed: Sequence[str] = (),
        file: Path | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._fixed = tuple(map(read_line, fixed))
        self._file = file
        self._clock = clock
        self._lock = threading.Lock()
        self._seen: tuple[int, int, int] | None = None
        self._next_check = float("-inf")
        self._from_file: tuple[Key, ...] = ()
        if file is not None and file.is_file():
            _, broken = read_keys(file)
            if broken:
                number, error = broken[0]
                raise InputError(f"{file}, line {number}: {error}", field="api_keys_file")

    @property
    def open_to_all(self) -> bool:
        """Whether no key is asked for."""
        return not self._fixed and self._file is None

    def find(self, sent: str) -> Grant | None:
        """Return what the key `sent` is good for; None where it is none.

        Each key is compared, whichever matches, and as a digest: how long it takes tells nothing
        of how many keys there are or how much of one was right.
        """
        if self.open_to_all:
            return EVERYTHING
        digest = digest_of(sent)
        found = [key for key in self.valid() if hmac.compare_digest(digest, key.digest)]
        return found[0].grant if found else None

    def valid(self) -> tuple[Key, ...]:
        """Return all keys that are valid now."""
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
            keys, broken = read_keys(file)
        except (OSError, UnicodeDecodeError) as error:
            if self._seen is not None:
                log.error("the keys cannot be read again, the last ones stay valid: %s", error)
                self._seen = None
            return
        self._seen = seen
        self._from_file = tuple(keys)
        for number, reason in broken:
            log.error("%s, line %d opens nothing: %s", file, number, reason)
        plain = sum(not key.hashed for key in keys)
        if plain:
            log.warning("%d keys stand in %s in plain; interlingua keys hash writes their digests",
                        plain, file)  # fmt: skip
        log.info("read %d API keys", len(keys))


def read_keys(file: Path) -> tuple[list[Key], list[tuple[int, InputError]]]:
    """Return the keys in `file`, one a line, and (line, why) for those not understood.

    Empty lines, and what follows a # at the beginning of a line, are left out.
    """
    keys: list[Key] = []
    broken: list[tuple[int, InputError]] = []
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            keys.append(read_line(line))
        except InputError as error:
            broken.append((number, error))
    return keys, broken
