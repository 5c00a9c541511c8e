from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
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
    "tiny", "tiny-space", DIMENSION, {"owner": "Ольга"}, datetime(2026, 11, 21, tzinfo=UTC)
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


def test_new_documents_get_growing_keys(store: Store) -> None:
    first = write(store, sample_documents(3), sample_vectors(3))
    assert (first.generation, first.removed.tolist(), first.added.tolist()) == (1, [], [1, 2, 3])
    again = write(store, sample_documents(2), sample_vectors(2, seed=1))
    assert (again.generation, again.removed.tolist(), again.added.tolist()) == (2, [1, 2], [4, 5])


def test_no_key_is_given_twice(store: Store) -> None:
    write(store, sample_documents(3), sample_vectors(3))
    with store.transaction() as transaction:
        transaction.delete(np.array([3]))
        transaction.commit()
    assert write(store, sample_documents(1, start=3), sample_vectors(1)).added.tolist() == [4]


def test_vectors_come_back_bit_by_bit(store: Store) -> None:
    vectors = sample_vectors(5)
    keys = write(store, sample_documents(5), vectors).added
    with store.snapshot() as snapshot:
        np.testing.assert_array_equal(snapshot.vectors(keys[::-1]), vectors[::-1])


def test_documents_come_back_whole(store: Store) -> None:
    document = Document("a/ß", 'He said "no".\0\n日本', "ja", {"x": [1, None, 2.5, True, "ё"]})
    write(store, [document], sample_vectors(1))
    with store.snapshot() as snapshot:
        assert snapshot.documents([1]) == {1: document}
        assert snapshot.keys_of(["a/ß", "b"]) == {"a/ß": 1}


def test_write_without_commit_is_undone(store: Store) -> None:
    with store.transaction() as transaction:
        transaction.upsert(sample_documents(3), sample_vectors(3))
    with store.snapshot() as snapshot:
        assert snapshot.begin() == 0
        assert not len(snapshot.keys())


def test_snapshot_does_not_see_later_writes(store: Store) -> None:
    write(store, sample_documents(3), sample_vectors(3))
    with store.snapshot() as snapshot:
        assert snapshot.begin() == 1
        write(store, sample_documents(5), sample_vectors(5))
        assert snapshot.keys().tolist() == [1, 2, 3]
        assert snapshot.begin() == 2
        assert len(snapshot.keys()) == 5


def test_languages_are_counted(store: Store) -> None:
    write(store, sample_documents(6), sample_vectors(6))
    with store.snapshot() as snapshot:
        assert snapshot.languages() == {"de": 2, "en": 2, "fr": 1, "und": 1}


def test_missing_or_cut_vector_is_a_storage_error(store: Store) -> None:
    keys = write(store, sample_documents(2), sample_vectors(2)).added
    with closing(sqlite3.connect(store.path)) as other, other:
        other.execute("UPDATE vectors SET vector = x'00' WHERE key = 1")
        other.execute("DELETE FROM vectors WHERE key = 2")
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


def test_empty_file_is_no_store(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    with pytest.raises(StorageError, match="holds no corpus"):
        Store(tmp_path / "empty")
