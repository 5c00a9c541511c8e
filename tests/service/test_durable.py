from __future__ import annotations

import os
from pathlib import Path

import pytest

from service.durable import replace_durably, sync, write_durably


def test_a_file_is_synced_before_it_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a"
    synced: list[bytes] = []
    monkeypatch.setattr(os, "fsync", lambda _: synced.append(path.read_bytes()))
    write_durably(path, b"whole")
    assert synced == [b"whole"]  # nothing was still in a buffer


def test_a_new_file_is_synced_before_it_takes_the_place_of_the_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    synced: list[dict[bool, bytes]] = []
    monkeypatch.setattr(
        os,
        "fsync",
        lambda _: synced.append({f == path: f.read_bytes() for f in tmp_path.iterdir()}),
    )
    replace_durably(path, b"new")
    assert synced == [{True: b"old", False: b"new"}]  # nothing was still in a buffer
    assert {f.name: f.read_bytes() for f in tmp_path.iterdir()} == {"a": b"new"}


def test_nothing_is_written_over(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"kept")
    with pytest.raises(FileExistsError):
        write_durably(tmp_path / "a", b"other")
    assert (tmp_path / "a").read_bytes() == b"kept"


def test_a_directory_is_synced_as_a_file_is(tmp_path: Path) -> None:
    sync(tmp_path)
    with pytest.raises(FileNotFoundError):
        sync(tmp_path / "missing")
