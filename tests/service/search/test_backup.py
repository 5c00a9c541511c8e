from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from service.cli import main
from service.durable import STAGED
from service.errors import ConflictError, NotFoundError, StorageError
from service.locks import locked
from service.search.backup import _files, back_up
from service.search.corpora import Corpora
from service.search.document import Document
from service.search.policy import IndexPolicy

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


def test_an_older_database_beside_a_newer_index_is_served(data: Path, tmp_path: Path) -> None:
    corpora = Corpora(data / "corpora")
    corpus = corpora.create("p", model="m", space="s", dimension=WIDTH, index=IndexPolicy("ivf"))
    documents = [Document(f"{number}", "text") for number in range(1500)]
    vectors = np.random.default_rng(0).normal(size=(1500, WIDTH)).astype(np.float32)
    corpus.upsert(documents, vectors)
    corpus.settle()
    back_up(data, tmp_path / "backup")
    corpus.upsert(documents[-300:], vectors[-300:])  # their rows stay in the clusters, as removed
    corpus.settle()
    corpora.close()
    for file in (data / "corpora/p").glob("documents.sqlite3*"):
        file.unlink()
    shutil.copytree(tmp_path / "backup", data, dirs_exist_ok=True)
    again = Corpora(data / "corpora")
    assert again.damaged == {}
    (hits,) = again.get("p").search(vectors[1400, None], k=1)
    assert hits[0].id == "1400"
    again.close()


def test_what_comes_and_goes_beside_the_data_is_left_alone(
    data: Path, corpora: Corpora, tmp_path: Path
) -> None:
    write(corpora, ["a"])
    for name in ("index.faiss", "index.faiss.new"):
        (data / "corpora/notes" / name).write_bytes(b"made again from the database")
    for name in (".new-x", ".dropped-notes-1", ".reencode-notes-x"):
        (data / "corpora" / name).mkdir()
        (data / "corpora" / name / "documents.sqlite3").write_bytes(b"half")
    (data / "jobs").mkdir()
    for name in ("1.json", f"2.json.7{STAGED}"):
        (data / "jobs" / name).write_bytes(b"{}")
    copied = back_up(data, tmp_path / "backup")
    assert [path.as_posix() for path in copied] == [
        "corpora/notes/documents.sqlite3", "corpora/notes/index.json", "jobs/1.json",
    ]  # fmt: skip
    corpora.close()


def test_a_backup_never_holds_a_backup(data: Path, corpora: Corpora) -> None:
    once, again = (back_up(data, data / f"backup-{number}") for number in range(2))
    assert once == again
    assert not list((data / "backup-1").rglob("backup-*"))
    with pytest.raises(ConflictError, match="among what it copies"):
        back_up(data, data / "corpora" / "backup")
    assert not (data / "corpora/backup").exists()
    corpora.close()


def test_what_is_dropped_meanwhile_is_left_out(
    data: Path, corpora: Corpora, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = corpora.create("gone", model="m", space="s", dimension=WIDTH)

    def files_then_drop(of: Path) -> list[Path]:
        files = _files(of)
        corpora.drop(gone.name)
        return files

    monkeypatch.setattr("service.search.backup._files", files_then_drop)
    copied = back_up(data, tmp_path / "backup")
    assert {path.parent.name for path in copied} == {"notes"}
    again = restored(data, tmp_path / "backup")
    assert [corpus.name for corpus in again.list()] == ["notes"]
    assert again.damaged == {}
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


def test_a_backup_that_is_killed_is_no_backup(data: Path, corpora: Corpora, tmp_path: Path) -> None:
    """It stood under its name by half, and looked like a whole one."""
    corpora.close()
    (data / "classifiers").mkdir()
    for number in range(3000):
        (data / "classifiers" / f"{number:04}").write_bytes(b"x")
    to, script = tmp_path / "backup", "import sys; from service.cli import main; main(sys.argv[1:])"
    command = [sys.executable, "-c", script, "backup", "--data", str(data), str(to)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    while len(list(tmp_path.glob("*/classifiers/0009"))) < 2:  # the copy of it is not there yet
        assert process.poll() is None, "it ended before it was killed"
    process.kill()
    process.wait()
    assert not to.exists()
    copied = back_up(data, to)
    assert len(copied) == len([path for path in to.rglob("*") if path.is_file()]) > 3000
    assert {path.name for path in tmp_path.iterdir()} == {"data", "backup"}


def test_two_backups_to_one_place_are_one(data: Path, corpora: Corpora, tmp_path: Path) -> None:
    corpora.close()
    beside = tmp_path / f".backup{STAGED}"
    beside.mkdir()
    with locked(beside), pytest.raises(ConflictError, match="Another process"):
        back_up(data, tmp_path / "backup")
    back_up(data, tmp_path / "backup")


def test_a_damaged_database_is_no_backup(data: Path, corpora: Corpora, tmp_path: Path) -> None:
    write(corpora, [str(number) for number in range(200)])
    corpora.close()
    (file,) = data.rglob("*.sqlite3")
    content = bytearray(file.read_bytes())
    content[len(content) // 2 :] = b"\xff" * (len(content) - len(content) // 2)
    file.write_bytes(content)
    with pytest.raises((StorageError, sqlite3.DatabaseError)):
        back_up(data, tmp_path / "backup")
    assert {path.name for path in tmp_path.iterdir()} == {"data"}


def test_the_command(data: Path, corpora: Corpora, tmp_path: Path) -> None:
    corpora.close()
    done = CliRunner().invoke(main, ["backup", "--data", str(data), str(tmp_path / "backup")])
    assert done.exit_code == 0, done.output
    assert "copied" in done.output
    assert (tmp_path / "backup" / "corpora" / "notes").is_dir()


def test_settings_that_cannot_work_are_said_in_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INTERLINGUA_PORT", "nine")
    done = CliRunner().invoke(main, ["backup", str(tmp_path / "backup")])
    assert done.exit_code == 2
    assert "port: " in done.stderr
