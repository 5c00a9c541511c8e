"""A corpus in another space: filled beside the old one, switched to in one step."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest

from service.durable import sync
from service.errors import ConflictError, NotFoundError, StorageError, UnavailableError
from service.inference.session import Vectors
from service.search import corpora as corpora_module
from service.search import database, replacement
from service.search.corpora import Corpora, Corpus
from service.search.database import IDLE_READERS
from service.search.document import Document
from service.search.reencode import NewSpace, reencode
from service.search.replacement import SWITCHING
from tests.service.search.samples import make_corpus, sample_documents, sample_vectors

WIDTH = 4
NEW = NewSpace("other", "other-space", WIDTH, "0123456789abcdef")
QUERY = np.eye(WIDTH, dtype=np.float32)[:1]


def embed(texts: Sequence[str]) -> Vectors:
    """A vector that depends on the text alone."""
    seeds = [sum(text.encode()) for text in texts]
    return np.concatenate([sample_vectors(1, seed=seed, dimension=WIDTH) for seed in seeds])


def ignore(done: int, total: int) -> None:
    pass


def assert_is_new(corpus: Corpus, documents: Sequence[Document]) -> None:
    info = corpus.info()
    assert (info.model, info.space, info.dimension) == ("other", "other-space", WIDTH)
    assert info.identity == "0123456789abcdef"
    assert {d.id: d for d in corpus.page(limit=1000).documents} == {d.id: d for d in documents}
    expected = embed([d.text for d in documents])
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(corpus.vectors_of([d.id for d in documents]), expected, atol=1e-6)
    (hits,) = corpus.search(QUERY, k=len(documents))
    assert len(hits) == len(documents)


def test_a_corpus_gets_the_vectors_of_another_model(corpora: Corpora, corpus: Corpus) -> None:
    told: list[tuple[int, int]] = []
    count = reencode(corpora, "demo", NEW, embed, lambda *done: told.append(done))
    assert (count, told[-1]) == (60, (60, 60))
    assert_is_new(corpora.get("demo"), sample_documents(60))
    assert corpora.get("demo").info().created == corpus.info().created
    corpora.close()
    again = Corpora(corpora.directory)
    assert_is_new(again.get("demo"), sample_documents(60))
    again.close()


def test_what_is_written_meanwhile_is_taken_along(corpora: Corpora, corpus: Corpus) -> None:
    calls = 0

    def embed_while_others_write(texts: Sequence[str]) -> Vectors:
        nonlocal calls
        calls += 1
        if calls == 1:
            corpus.delete(["d3", "d4"])
            corpus.upsert([Document("d5", "changed"), Document("new", "new")], sample_vectors(2))
        return embed(texts)

    reencode(corpora, "demo", NEW, embed_while_others_write, ignore)
    kept = [d for d in sample_documents(60) if d.id not in ("d3", "d4", "d5")]
    assert_is_new(corpora.get("demo"), [*kept, Document("d5", "changed"), Document("new", "new")])


def test_searches_go_on_and_writes_are_lost_nowhere(corpora: Corpora, corpus: Corpus) -> None:
    """One thread searches, one writes, while the corpus is switched three times."""
    stop = threading.Event()
    failures: list[BaseException] = []
    written: list[str] = []

    def search() -> None:
        current = corpora.get("demo")
        query = np.ones((1, current.dimension), dtype=np.float32)
        (hits,) = current.search(query, k=1000)
        assert len(hits) >= 60

    def write() -> None:
        current = corpora.get("demo")
        id = f"w{len(written)}"
        vector = np.ones((1, current.dimension), dtype=np.float32)
        try:
            current.upsert([Document(id, id)], vector)
        except UnavailableError:
            return  # not acknowledged: the client sends it again
        written.append(id)

    def repeat(work: object) -> None:
        try:
            while not stop.is_set():
                work()  # type: ignore[operator]
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=repeat, args=(work,)) for work in (search, write)]
    for thread in threads:
        thread.start()
    for _ in range(3):
        reencode(corpora, "demo", NEW, embed, ignore)
        time.sleep(0.05)
    stop.set()
    for thread in threads:
        thread.join()
    assert failures == []
    assert written
    assert corpora.get("demo").ids() == {d.id for d in sample_documents(60)} | set(written)


def test_a_search_that_began_before_the_switch_ends_on_the_old(
    corpora: Corpora, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(corpora_module, "RETIRED_SECONDS", 0.2)
    reencode(corpora, "demo", NEW, embed, ignore)
    assert len(corpus.search(sample_vectors(1), k=60)[0]) == 60
    with pytest.raises(UnavailableError, match="corpus 'demo' was"):
        corpus.upsert([Document("late", "late")], sample_vectors(1))
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            corpus.search(sample_vectors(1), k=1)
        except UnavailableError:
            break
        time.sleep(0.02)
    else:
        pytest.fail("the old corpus was never closed")
    while corpora._retired and time.monotonic() < deadline:
        time.sleep(0.02)
    assert corpora._retired == []  # nor kept in memory
    while len(list(corpora.directory.iterdir())) > 1 and time.monotonic() < deadline:
        time.sleep(0.02)
    assert [path.name for path in corpora.directory.iterdir()] == ["demo"]  # nor on the disk


def test_another_process_writes_before_the_switch_or_is_refused(
    corpora: Corpora, corpus: Corpus
) -> None:
    other = Corpora(corpora.directory)  # as `interlingua index` beside a server
    written = other.get("demo")

    def embed_while_it_writes(texts: Sequence[str]) -> Vectors:
        if not written.find(["before"]):
            written.upsert([Document("before", "before")], sample_vectors(1))
        return embed(texts)

    reencode(corpora, "demo", NEW, embed_while_it_writes, ignore)
    assert corpora.get("demo").count() == 61
    with pytest.raises(UnavailableError, match="encoded anew or dropped"):
        written.upsert([Document("after", "after")], sample_vectors(1))
    with pytest.raises(UnavailableError):
        written.delete(["before"])
    assert corpora.get("demo").count() == 61
    other.close()
    again = Corpora(corpora.directory)
    assert again.get("demo").count() == 61
    again.close()


def test_another_process_waits_while_the_last_of_it_is_copied(
    corpora: Corpora, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.1)
    other = Corpora(corpora.directory)
    with corpus.held(), pytest.raises(StorageError, match="another process holds it"):
        other.get("demo").upsert([Document("late", "late")], sample_vectors(1))
    other.get("demo").upsert([Document("late", "late")], sample_vectors(1))
    other.close()


def test_only_one_process_encodes_a_corpus_anew(corpora: Corpora, corpus: Corpus) -> None:
    other = Corpora(corpora.directory)

    def embed_while_another_wants_to(texts: Sequence[str]) -> Vectors:
        with pytest.raises(ConflictError, match="Another process"):
            reencode(other, "demo", NEW, embed, ignore)
        return embed(texts)

    reencode(corpora, "demo", NEW, embed_while_another_wants_to, ignore)
    assert_is_new(corpora.get("demo"), sample_documents(60))
    assert reencode(other, "demo", NEW, embed, ignore) == 60
    other.close()


def test_a_process_that_starts_within_the_switch_ends_it_for_nobody(
    corpora: Corpora, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[threading.Thread] = []

    def start_another(path: Path) -> None:
        if not started:
            opening = lambda: Corpora(corpora.directory).close()  # noqa: E731
            started.append(threading.Thread(target=opening))
            started[0].start()
            started[0].join(0.2)
        sync(path)

    monkeypatch.setattr(replacement, "sync", start_another)
    reencode(corpora, "demo", NEW, embed, ignore)
    started[0].join()
    assert_is_new(corpora.get("demo"), sample_documents(60))
    corpora.close()
    again = Corpora(corpora.directory)
    assert_is_new(again.get("demo"), sample_documents(60))
    again.close()


def test_what_a_break_left_to_be_replaced_takes_no_writes(corpora: Corpora, corpus: Corpus) -> None:
    due = corpora.directory / f"{SWITCHING}demo"
    due.mkdir()
    with pytest.raises(UnavailableError):
        corpus.upsert([Document("late", "late")], sample_vectors(1))
    due.rmdir()
    corpus.upsert([Document("late", "late")], sample_vectors(1))


def test_a_corpus_dropped_by_another_process_takes_no_writes(
    corpora: Corpora, corpus: Corpus
) -> None:
    other = Corpora(corpora.directory)
    other.drop("demo")
    other.close()
    with pytest.raises(UnavailableError, match="dropped"):
        corpus.upsert([Document("late", "late")], sample_vectors(1))


def test_many_who_began_before_the_switch_read_the_old_file(
    corpora: Corpora, corpus: Corpus
) -> None:
    reencode(corpora, "demo", NEW, embed, ignore)
    corpora.get("demo").delete([f"d{number}" for number in range(30)])
    with ExitStack() as lent:
        for _ in range(IDLE_READERS):
            lent.enter_context(corpus._store.snapshot())
        assert corpus.count() == 60
        assert len(corpus.search(sample_vectors(1), k=60)[0]) == 60


def test_a_failure_changes_nothing(corpora: Corpora, corpus: Corpus) -> None:
    def fail(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        reencode(corpora, "demo", NEW, embed, fail)
    assert corpora.get("demo") is corpus
    corpus.upsert([Document("more", "more")], sample_vectors(1))
    assert [path.name for path in corpora.directory.iterdir()] == ["demo"]


def test_a_corpus_dropped_meanwhile_stays_dropped(corpora: Corpora, corpus: Corpus) -> None:
    def drop(done: int, total: int) -> None:
        corpora.drop("demo")

    with pytest.raises((NotFoundError, UnavailableError)):
        reencode(corpora, "demo", NEW, embed, drop)
    assert corpora.list() == ()
    assert list(corpora.directory.iterdir()) == []


def test_a_corpus_dropped_as_its_policy_is_copied_is_said_to_be_gone(
    corpora: Corpora, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = corpus.policy_files()
    monkeypatch.setattr(corpus, "policy_files", lambda: found)
    corpora.drop("demo")
    monkeypatch.setattr(corpora, "get", lambda _: corpus)  # as it was got before
    with pytest.raises(NotFoundError):
        reencode(corpora, "demo", NEW, embed, ignore)
    assert list(corpora.directory.iterdir()) == []


def test_a_corpus_dropped_as_it_is_switched_keeps_nobody_waiting(
    corpora: Corpora, corpus: Corpus
) -> None:
    """Dropping waits for the writes that a re-encoding holds at its end, and holds up nothing."""
    make_corpus(corpora, "other")
    is_gone = threading.Event()

    def wait_until_gone() -> None:
        while len(corpora.list()) > 1:
            time.sleep(0.01)
        is_gone.set()

    dropping = threading.Thread(target=corpora.drop, args=("demo",))
    with corpora.successor(corpus, model="other", space="other-space", dimension=WIDTH) as fresh:
        with corpus.held():
            dropping.start()
            threading.Thread(target=wait_until_gone, daemon=True).start()
            assert is_gone.wait(10)
            assert dropping.is_alive()
            with pytest.raises(NotFoundError):
                fresh.switch()
        dropping.join()
    assert [path.name for path in corpora.directory.iterdir()] == ["other"]


@pytest.mark.parametrize("step", range(1, 4))
def test_a_break_in_the_switch_leaves_the_old_or_the_new(
    corpora: Corpora, corpus: Corpus, step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process dies before the 1st, 2nd or 3rd rename; only after the 1st it is switched."""
    renames = 0
    real = Path.rename

    def rename(path: Path, target: Path) -> Path:
        nonlocal renames
        renames += 1
        if renames == step:
            raise KeyboardInterrupt
        return real(path, target)

    monkeypatch.setattr(Path, "rename", rename)
    # What the dying process would not do either.
    monkeypatch.setattr("shutil.rmtree", lambda *_, **__: None)
    with pytest.raises(KeyboardInterrupt):
        reencode(corpora, "demo", NEW, embed, ignore)
    monkeypatch.undo()
    after = Corpora(corpora.directory)
    assert after.get("demo").space == ("tiny-space" if step == 1 else "other-space")
    assert after.get("demo").info().documents == 60
    assert after.damaged == {}
    after.close()


def test_what_a_dead_process_left_is_deleted_when_it_is_old(
    corpora: Corpora, corpus: Corpus
) -> None:
    fresh = replacement.begin_folder(corpora.directory, "other")
    old = replacement.begin_folder(corpora.directory, "demo")
    (old / "documents.sqlite3").write_bytes(b"half")
    for path in (old / "documents.sqlite3", old):
        os.utime(path, (0, 0))
    Corpora(corpora.directory).close()
    assert fresh.exists()
    assert not old.exists()


def test_a_disk_that_refuses_is_said(corpora: Corpora, corpus: Corpus) -> None:
    def fail(texts: Sequence[str]) -> Vectors:
        raise StorageError("the disk is full")

    with pytest.raises(StorageError):
        reencode(corpora, "demo", NEW, fail, ignore)
    assert corpora.get("demo") is corpus


def test_another_engine_says_that_it_cannot() -> None:
    with pytest.raises(ConflictError, match="built-in"):
        reencode(object(), "demo", NEW, embed, ignore)  # type: ignore[arg-type]


def test_an_empty_corpus_changes_its_space(corpora: Corpora) -> None:
    make_corpus(corpora, "empty")
    assert reencode(corpora, "empty", NEW, embed, ignore) == 0
    assert corpora.get("empty").space == "other-space"
