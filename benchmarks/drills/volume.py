"""A small volume that can be filled without harm."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path


class SmallVolume:
    """A tmpfs of `mebibytes` at `place` while the block is entered; needs root."""

    def __init__(self, place: Path, *, mebibytes: int) -> None:
        self._place = place
        self._size = mebibytes

    def __enter__(self) -> Path:
        if os.geteuid() != 0:
            raise SystemExit("filling a disk needs root, to mount a small one: sudo, or --only ...")
        self._place.mkdir()
        subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={self._size}m", "drill", str(self._place)],
            check=True,
        )
        return self._place

    def __exit__(self, *raised: object) -> None:
        subprocess.run(["umount", "--lazy", str(self._place)], check=True)
