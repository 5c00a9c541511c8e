"""Files that are either whole or not there."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from service.errors import StorageError
from training.store import read_json, write_json


def test_a_full_disk_leaves_the_file_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_json(tmp_path / "a.json", {"value": 1})

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StorageError, match="No space left"):
        write_json(tmp_path / "a.json", {"value": 2})
    assert read_json(tmp_path / "a.json") == {"value": 1}
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]
