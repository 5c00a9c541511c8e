from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from service.errors import StorageError
from service.inference.session import Vectors
from service.search.document import Document
from service.search.store import Change, Header, Store, create_store
from tests.service.search.samples import DIMENSION, sample_documents, sample_vectors

HEADER = Header(
    "tiny",
    "tiny-space",
    DIMENSION,
    {"owner": "Ольга"},
    datetime(2026, 11, 21, tzinfo=UTC),
    identity="0123456789abcdef",
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    create_store(tmp_path / "documents.sqlite3", HEADER)
    store = Store(tmp_path / "documents.sqlite3")
    yield store
    store.close()


def write(store: Store, documents: Sequence[Document], vectors: Vectors) -> Change:
    with store.transaction() as transaction:
        change = transaction.upsert(documents, vectors)
        transaction.commit()
    return change


def test_header_is_kept(store: Store) -> None:
    assert store.header == HEADER


def test_documents_get_growing_keys_and_writes_growing_generations(store: Store) -> None:
    first = write(store, sample_documents(3), sample_vectors(3))
    assert (first.before, first.removed.tolist()) == (0, [])
    again = write(store, sample_documents(2), sample_vectors(2, seed=1))
    assert again.removed.tolist() == first.added[:2].tolist()
    assert again.before == first.generation < again.generation
    keys = [*first.added.tolist(), *again.added.tolist()]
    assert keys == sorted(set(keys))


def test_no_key_is_given_twice_even_when_the_clock_stands_still(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.time_ns", lambda: 5_000_000)
    first = write(store, sample_documents(3), sample_vectors(3))
    assert first.added.tolist() == [5000, 5001, 5002]
    with store.transaction() as transaction:
        deleted = transaction.delete(np.array([5002]))
        transaction.commit()
    again = write(store, sample_documents(1, start=3), sample_vectors(1))
    assert again.added.tolist() == [5003]
    assert [first.generation, deleted.generation, again.generation] == [5000, 5001, 5002]


def test_vectors_come_back_bit_by_bit(store: Store) -> None:
    vectors = sample_vectors(5)
    keys = write(store, sample_documents(5), vectors).added
    with store.snapshot() as snapshot:
        np.testing.assert_array_equal(snapshot.vectors(keys[::-1]), vectors[::-1])


def test_documents_come_back_whole(store: Store) -> None:
    document = Document("a/ß", 'He said "no".\0\n日本', "ja", {"x": [1, None, 2.5, True, "ё"]})
    (key,) = write(store, [document], sample_vectors(1)).added.tolist()
    with store.snapshot() as snapshot:
        assert snapshot.documents([key]) == {key: document}
        assert snapshot.keys_of(["a/ß", "b"]) == {"a/ß": key}


def test_write_without_commit_is_undone(store: Store) -> None:
    with store.transaction() as transaction:
        transaction.upsert(sample_documents(3), sample_vectors(3))
    with store.snapshot() as snapshot:
        assert snapshot.begin() == 0
        assert not len(snapshot.keys())


def test_snapshot_does_not_see_later_writes(store: Store) -> None:
    first = write(store, sample_documents(3), sample_vectors(3))
    with store.snapshot() as snapshot:
        assert snapshot.begin() == first.generation
        second = write(store, sample_documents(5), sample_vectors(5))
        assert snapshot.keys().tolist() == first.added.tolist()
        assert snapshot.begin() == second.generation
        assert snapshot.keys().tolist() == second.added.tolist()


def test_languages_are_counted(store: Store) -> None:
    write(store, sample_documents(6), sample_vectors(6))
    with store.snapshot() as snapshot:
        assert snapshot.languages() == {"de": 2, "en": 2, "fr": 1, "und": 1}


def test_missing_or_cut_vector_is_a_storage_error(store: Store) -> None:
    keys = write(store, sample_documents(2), sample_vectors(2)).added
    with closing(sqlite3.connect(store.path)) as other, other:
        other.execute("UPDATE vectors SET vector = x'00' WHERE key = ?", (int(keys[0]),))
        other.execute("DELETE FROM vectors WHERE key = ?", (int(keys[1]),))
    for key in keys:
        with store.snapshot() as snapshot, pytest.raises(StorageError, match="row"):
            snapshot.vectors(np.array([key]))


def test_missing_document_is_a_storage_error(store: Store) -> None:
    with store.snapshot() as snapshot, pytest.raises(StorageError, match="row 9"):
        snapshot.documents([9])


def test_other_schema_version_is_refused(store: Store) -> None:
    with closing(sqlite3.connect(store.path)) as other:
        other.execute("PRAGMA user_version = 99")
    with pytest.raises(StorageError, match="version 99"):
        Store(store.path)


def test_several_that_open_an_earlier_version_at_once_all_get_it(store: Store) -> None:
    store.close()
    with (
        closing(sqlite3.connect(store.path, isolation_level=None)) as other,
        ThreadPoolExecutor(3) as threads,
    ):
        other.executescript("ALTER TABLE corpus DROP COLUMN identity; PRAGMA user_version = 3;")
        other.execute("BEGIN IMMEDIATE")
        opening = [threads.submit(Store, store.path) for _ in range(3)]
        time.sleep(0.3)  # all of them have seen the earlier version, and wait
        other.execute("ROLLBACK")
        for opened in opening:
            with closing(opened.result()) as again:
                assert again.header == replace(HEADER, identity=None)


def test_empty_file_is_no_store(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    with pytest.raises(StorageError, match="holds no corpus"):
        Store(tmp_path / "empty")
