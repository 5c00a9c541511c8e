from __future__ import annotations

import shutil
import sqlite3
import threading
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from service.cli import main
from service.errors import ConflictError, NotFoundError, StorageError
from service.search.backup import back_up
from service.search.corpora import Corpora
from service.search.document import Document

WIDTH = 8


def write(corpora: Corpora, ids: list[str]) -> None:
    documents = [Document(id=id, text=f"text {id}") for id in ids]
    corpora.get("notes").upsert(documents, np.ones((len(ids), WIDTH), dtype=np.float32))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def corpora(data: Path) -> Corpora:
    corpora = Corpora(data / "corpora")
    corpora.create("notes", model="m", space="s", dimension=WIDTH)
    return corpora


def restored(data: Path, backup: Path) -> Corpora:
    """As the page on operation says: the backup takes the place of the data."""
    shutil.rmtree(data)
    shutil.copytree(backup, data)
    return Corpora(data / "corpora")


def test_a_backup_restores_what_was_there(data: Path, corpora: Corpora, tmp_path: Path) -> None:
    write(corpora, ["a", "b"])
    back_up(data, tmp_path / "backup")
    write(corpora, ["later"])
    corpora.close()
    again = restored(data, tmp_path / "backup")
    corpus = again.get("notes")
    assert corpus.info().documents == 2
    (hits,) = corpus.search(np.ones((1, WIDTH), dtype=np.float32), k=5)
    assert sorted(hit.id for hit in hits) == ["a", "b"]
    write(again, ["new"])
    assert corpus.info().documents == 3
    again.close()


def test_a_backup_under_writes_is_one_moment(data: Path, corpora: Corpora, tmp_path: Path) -> None:
    """Each write is of two documents: an odd number would be half a write."""
    stop = threading.Event()

    def keep_writing() -> None:
        number = 0
        while not stop.is_set():
            write(corpora, [f"{number}-left", f"{number}-right"])
            number += 1

    write(corpora, ["0-left", "0-right"])
    writer = threading.Thread(target=keep_writing)
    writer.start()
    for number in range(5):
        back_up(data, tmp_path / f"backup-{number}")
    stop.set()
    writer.join()
    corpora.close()
    for number in range(5):
        copy = Corpora(tmp_path / f"backup-{number}" / "corpora")
        count = copy.get("notes").info().documents
        copy.close()
        assert count >= 2
        assert count % 2 == 0


def test_nothing_is_overwritten(data: Path, corpora: Corpora, tmp_path: Path) -> None:
    corpora.close()
    with pytest.raises(ConflictError, match="new directory"):
        back_up(data, tmp_path)
    with pytest.raises(NotFoundError):
        back_up(tmp_path / "none", tmp_path / "backup")


def test_a_damaged_database_is_no_backup(data: Path, corpora: Corpora, tmp_path: Path) -> None:
    write(corpora, [str(number) for number in range(200)])
    corpora.close()
    (file,) = data.rglob("*.sqlite3")
    content = bytearray(file.read_bytes())
    content[len(content) // 2 :] = b"\xff" * (len(content) - len(content) // 2)
    file.write_bytes(content)
    with pytest.raises((StorageError, sqlite3.DatabaseError)):
        back_up(data, tmp_path / "backup")


def test_the_command(data: Path, corpora: Corpora, tmp_path: Path) -> None:
    corpora.close()
    done = CliRunner().invoke(main, ["backup", "--data", str(data), str(tmp_path / "backup")])
    assert done.exit_code == 0, done.output
    assert "copied" in done.output
    assert (tmp_path / "backup" / "corpora" / "notes").is_dir()
