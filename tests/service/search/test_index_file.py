from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from service.errors import StorageError
from service.search.index_file import IndexHeader, read_index_file, write_index_file
from service.search.native import faiss

ROWS, DIMENSION = 5, 4
ALIVE = np.array([True, True, False, True, True])


def flat(rows: int = ROWS) -> Any:  # noqa: ANN401 - FAISS has no types
    index = faiss.IndexFlatIP(DIMENSION)
    index.add(np.arange(rows * DIMENSION, dtype=np.float32).reshape(rows, DIMENSION))
    return index


@pytest.fixture
def written(tmp_path: Path) -> Path:
    path = tmp_path / "index.faiss"
    header = IndexHeader(dimension=DIMENSION, rows=ROWS, generation=7)
    write_index_file(path, header, np.arange(ROWS, dtype=np.int64) * 3, ALIVE, [flat()])
    return path


def test_it_is_read_as_it_was_written(written: Path) -> None:
    saved = read_index_file(written)
    assert saved.header.generation == 7
    assert saved.keys.tolist() == [0, 3, 6, 9, 12]
    assert saved.alive.tolist() == ALIVE.tolist()
    (index,) = saved.parts
    np.testing.assert_array_equal(index.reconstruct_n(0, ROWS).ravel(), np.arange(ROWS * DIMENSION))
    assert [path.name for path in written.parent.iterdir()] == ["index.faiss"]


def test_every_changed_or_cut_byte_is_found(written: Path) -> None:
    content = written.read_bytes()
    for position in range(0, len(content), 7):
        changed = bytearray(content)
        changed[position] ^= 0x10
        written.write_bytes(changed)
        with pytest.raises(StorageError, match="damaged"):
            read_index_file(written)
        written.write_bytes(content[:position])
        with pytest.raises(StorageError, match="damaged"):
            read_index_file(written)


def test_parts_that_do_not_agree_are_found(written: Path) -> None:
    header = IndexHeader(dimension=DIMENSION, rows=ROWS, generation=7)
    write_index_file(written, header, np.arange(ROWS, dtype=np.int64), ALIVE, [flat(ROWS - 1)])
    with pytest.raises(StorageError, match="do not agree"):
        read_index_file(written)


def test_failed_write_leaves_what_was_there(written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = written.read_bytes()

    def full(path: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    header = IndexHeader(dimension=DIMENSION, rows=ROWS, generation=8)
    with pytest.raises(StorageError, match="No space left"):
        write_index_file(written, header, np.arange(ROWS, dtype=np.int64), ALIVE, [flat()])
    assert written.read_bytes() == before
    assert [path.name for path in written.parent.iterdir()] == ["index.faiss"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_full_disk_inside_faiss_is_a_storage_error(tmp_path: Path) -> None:
    (tmp_path / "index.faiss.new").symlink_to("/dev/full")
    header = IndexHeader(dimension=DIMENSION, rows=40_000, generation=8)
    with pytest.raises(StorageError):
        write_index_file(
            tmp_path / "index.faiss",
            header,
            np.arange(40_000, dtype=np.int64),
            np.ones(40_000, dtype=np.bool_),
            [flat(40_000)],
        )
