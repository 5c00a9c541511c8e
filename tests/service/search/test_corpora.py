from __future__ import annotations

import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from service.errors import (
    ConflictError,
    InputError,
    NotFoundError,
    StorageError,
    UnavailableError,
)
from service.search.backend import CorporaBackend, CorpusBackend
from service.search.corpora import Corpora
from service.search.corpus import STORE_FILE, _bytes_in
from tests.service.search.samples import (
    DIMENSION,
    make_corpus,
    sample_documents,
    sample_vectors,
)


def test_it_keeps_the_backend_contract(corpora: Corpora) -> None:
    backend: CorporaBackend = corpora
    corpus: CorpusBackend = backend.create("demo", model="m", space="s", dimension=3)
    assert [c.name for c in backend.list()] == [corpus.name]


def test_created_corpora_are_listed_by_name_and_survive_a_restart(corpora: Corpora) -> None:
    for name in ("b", "a", "c.1_x-y"):
        make_corpus(corpora, name, documents=3)
    assert [corpus.name for corpus in corpora.list()] == ["a", "b", "c.1_x-y"]
    assert corpora.get("b").info().documents == 3
    corpora.close()
    opened = Corpora(corpora.directory)
    assert [corpus.info().documents for corpus in opened.list()] == [3, 3, 3]
    opened.close()


def test_creation_keeps_what_was_said(corpora: Corpora) -> None:
    corpora.create("demo", model="m", space="s", dimension=3, metadata={"owner": "Ольга"})
    corpora.close()
    opened = Corpora(corpora.directory)
    info = opened.get("demo").info()
    assert (info.model, info.space, info.dimension) == ("m", "s", 3)
    assert info.metadata == {"owner": "Ольга"}
    assert abs(info.created.timestamp() - time.time()) < 60
    opened.close()


def test_name_that_is_taken_is_a_conflict(corpora: Corpora) -> None:
    make_corpus(corpora, documents=3)
    with pytest.raises(ConflictError) as caught:
        make_corpus(corpora)
    assert caught.value.field == "name"
    assert corpora.get("demo").info().documents == 3


def test_one_of_many_who_create_at_once_wins(corpora: Corpora) -> None:
    outcomes: list[str] = []

    def create() -> None:
        try:
            make_corpus(corpora)
            outcomes.append("made")
        except ConflictError:
            outcomes.append("conflict")

    threads = [threading.Thread(target=create) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["conflict"] * 7 + ["made"]


@pytest.mark.parametrize("name", ["../evil", "a/b", ".new-x", ""])
def test_names_lead_nowhere(corpora: Corpora, name: str) -> None:
    with pytest.raises(InputError):
        make_corpus(corpora, name)
    with pytest.raises(NotFoundError):
        corpora.get(name)
    with pytest.raises(NotFoundError):
        corpora.drop(name)
    assert list(corpora.directory.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "at_fault"),
    [({"dimension": 0}, "dimension"), ({"metadata": {"a": {}}}, "metadata.a")],
)
def test_bad_creation_is_refused(
    corpora: Corpora, arguments: dict[str, object], at_fault: str
) -> None:
    with pytest.raises(InputError) as caught:
        corpora.create("demo", **({"model": "m", "space": "s", "dimension": 1} | arguments))  # type: ignore[arg-type]
    assert caught.value.field == at_fault
    assert list(corpora.directory.iterdir()) == []


def test_unknown_corpus_is_told_with_those_there_are(corpora: Corpora) -> None:
    make_corpus(corpora, "news")
    with pytest.raises(NotFoundError, match="news"):
        corpora.get("nws")


def test_dropped_corpus_is_gone_from_the_disk(corpora: Corpora) -> None:
    corpus = make_corpus(corpora, documents=3)
    corpora.drop("demo")
    assert list(corpora.directory.iterdir()) == []
    with pytest.raises(NotFoundError):
        corpora.get("demo")
    with pytest.raises(UnavailableError):
        corpus.info()
    assert make_corpus(corpora, documents=1).info().documents == 1


def test_corpus_that_cannot_be_dropped_stays_open(
    corpora: Corpora, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_corpus(corpora, documents=3)

    def refuse(path: Path, target: Path) -> None:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", refuse)
        with pytest.raises(StorageError, match="Permission denied"):
            corpora.drop("demo")
    assert corpora.get("demo").info().documents == 3
    corpora.drop("demo")
    assert corpora.list() == ()


def no_database(path: Path) -> None:
    path.write_bytes(b"no database " * 1000)


def empty(path: Path) -> None:
    path.write_bytes(b"")


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


@pytest.mark.parametrize("damage", [no_database, empty, cut])
def test_damaged_corpus_does_not_stop_the_others(
    corpora: Corpora, damage: Callable[[Path], None]
) -> None:
    for name in ("bad", "good"):
        make_corpus(corpora, name, documents=30)
    corpora.close()
    store = corpora.directory / "bad" / STORE_FILE
    (corpora.directory / "bad" / "index.faiss").unlink()
    damage(store)
    damaged = store.read_bytes()
    opened = Corpora(corpora.directory)
    assert [corpus.name for corpus in opened.list()] == ["good"]
    assert set(opened.damaged) == {"bad"}
    with pytest.raises(StorageError, match="could not be opened"):
        opened.get("bad")
    with pytest.raises(ConflictError):
        make_corpus(opened, "bad")
    assert store.read_bytes() == damaged  # kept, for whoever can mend it
    opened.drop("bad")
    assert make_corpus(opened, "bad").info().documents == 0
    opened.close()


def test_remains_of_a_broken_creation_or_drop_are_swept(corpora: Corpora) -> None:
    make_corpus(corpora)
    corpora.close()
    for name, age in ((".dropped-x-1", 0), (".new-old", 7200), (".new-fresh", 0), ("notes", 0)):
        folder = corpora.directory / name
        folder.mkdir()
        (folder / "some file").touch()
        then = time.time() - age
        os.utime(folder, (then, then))
    opened = Corpora(corpora.directory)
    assert sorted(path.name for path in corpora.directory.iterdir()) == [
        ".new-fresh", "demo", "notes",
    ]  # fmt: skip
    assert [corpus.name for corpus in opened.list()] == ["demo"]
    opened.close()


def test_remains_that_another_process_sweeps_meanwhile_are_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (".dropped-a-1", ".dropped-b-2", ".new-c"):
        (tmp_path / name).mkdir()

    def sweep_all(folder: Path, **_: object) -> None:
        for path in tmp_path.iterdir():
            path.rmdir()

    monkeypatch.setattr(shutil, "rmtree", sweep_all)
    assert Corpora(tmp_path).list() == ()


def test_directory_that_cannot_be_made_is_a_storage_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match="cannot be used"):
        Corpora(tmp_path / "file" / "corpora")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_read_only_directory_refuses_writes(corpora: Corpora) -> None:
    """In a child process that may not write there, whoever runs the tests."""
    make_corpus(corpora, documents=3)
    corpora.close()
    for path in (corpora.directory, *corpora.directory.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    for parent in corpora.directory.parents:
        if Path(tempfile.gettempdir()) in parent.parents:
            parent.chmod(0o755)
    child = os.fork()
    if not child:
        outcome = 1
        try:
            if os.getuid() == 0:
                os.setuid(65534)
            outcome = _write_where_it_is_forbidden(corpora.directory)
        finally:
            os._exit(outcome)
    _, status = os.waitpid(child, 0)
    corpora.directory.chmod(0o755)
    for path in corpora.directory.rglob("*"):
        path.chmod(0o755)
    assert os.waitstatus_to_exitcode(status) == 0


def _write_where_it_is_forbidden(directory: Path) -> int:
    opened = Corpora(directory)
    if set(opened.damaged) != {"demo"} or "cannot be" not in opened.damaged["demo"]:
        return 2
    try:
        opened.create("new", model="m", space="s", dimension=DIMENSION)
    except StorageError as error:
        return 0 if "Permission denied" in str(error) else 3
    return 4


def test_disk_without_room_for_a_corpus_leaves_nothing(
    corpora: Corpora, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*args: object) -> None:
        raise StorageError("the disk is full")

    monkeypatch.setattr("service.search.corpora.create_store", full)
    with pytest.raises(StorageError):
        make_corpus(corpora)
    assert list(corpora.directory.iterdir()) == []
    monkeypatch.undo()
    make_corpus(corpora)


def test_copied_folder_is_a_corpus_of_its_own(corpora: Corpora) -> None:
    make_corpus(corpora, "a", documents=3)
    corpora.close()
    shutil.copytree(corpora.directory / "a", corpora.directory / "b")
    opened = Corpora(corpora.directory)
    opened.get("b").upsert(sample_documents(1, start=3), sample_vectors(1))
    assert [corpus.info().documents for corpus in opened.list()] == [3, 4]
    assert opened.get("b").info().name == "b"
    opened.close()


def test_what_a_corpus_weighs_may_be_asked_while_it_is_dropped(tmp_path: Path) -> None:
    assert _bytes_in(tmp_path / "gone") == 0


def test_what_another_process_made_encoded_anew_or_dropped_is_followed(corpora: Corpora) -> None:
    other = Corpora(corpora.directory)  # a second service, or `interlingua index` beside the first
    made = make_corpus(other, documents=3)
    assert [corpus.name for corpus in corpora.list()] == ["demo"]
    assert corpora.get("demo").count() == 3
    with pytest.raises(ConflictError):
        make_corpus(corpora, "demo")
    with other.successor(made, model="m", space="other-space", dimension=DIMENSION) as fresh:
        fresh.corpus.upsert(sample_documents(2), sample_vectors(2))
        with made.held():
            fresh.switch()
    followed = corpora.get("demo")
    assert (followed.space, followed.count()) == ("other-space", 2)
    followed.upsert(sample_documents(1, start=2), sample_vectors(1))
    assert other.get("demo").count() == 3
    other.drop("demo")
    assert corpora.list() == ()
    with pytest.raises(NotFoundError):
        corpora.get("demo")
    other.close()


def test_a_corpus_that_is_gone_from_the_disk_can_be_dropped_and_made(corpora: Corpora) -> None:
    make_corpus(corpora, documents=3)
    shutil.rmtree(corpora.directory / "demo")
    with pytest.raises(NotFoundError):
        corpora.drop("demo")
    assert make_corpus(corpora, documents=1).count() == 1
