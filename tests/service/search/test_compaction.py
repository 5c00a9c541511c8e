"""Removed rows are taken out in slices, while searches and writes go on."""

from __future__ import annotations

import numpy as np
import pytest

from service.inference.session import Vectors
from service.search import compaction, index, live_index
from service.search.checks import unit_vectors
from service.search.compaction import Compaction
from service.search.corpora import Corpora
from service.search.document import Document
from service.search.index import VectorIndex
from service.search.snapshot import Keys
from tests.service.search.samples import DIMENSION, sample_documents, sample_vectors

ROWS = 100


@pytest.fixture(autouse=True)
def small_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "COMPACT_AT_ONCE", 0)
    monkeypatch.setattr(compaction, "SLICE_ROWS", 16)


def unit(count: int, seed: int = 0) -> Vectors:
    return unit_vectors(sample_vectors(count, seed=seed), dimension=DIMENSION)


def keys(start: int, end: int) -> Keys:
    return np.arange(start, end, dtype=np.int64)


@pytest.fixture
def marked() -> VectorIndex:
    marked = VectorIndex(DIMENSION)
    marked.add(keys(0, ROWS), unit(ROWS))
    marked.remove(keys(0, ROWS)[::4])
    return marked


def check(found: VectorIndex, vectors: dict[int, Vectors]) -> None:
    assert found.keys.tolist() == sorted(vectors)
    scores, answered = found.search(unit(3, seed=9), ROWS + 100)
    for row in answered.tolist():
        assert sorted(row) == sorted(vectors)
    matrix = np.stack([vectors[key] for key in answered[0].tolist()])
    np.testing.assert_allclose(scores[0], matrix @ unit(3, seed=9)[0], atol=1e-6)


def test_what_is_written_meanwhile_is_kept(marked: VectorIndex) -> None:
    vectors = dict(enumerate(unit(ROWS)))
    assert marked.due == "compact"
    running = Compaction(marked)
    assert running.copy_slice()
    marked.remove(keys(5, 8))  # copied
    marked.add(keys(200, 230), unit(30, seed=1))
    assert running.copy_slice()
    marked.remove(keys(90, 92))  # not yet
    running.finish()
    vectors |= dict(zip(range(200, 230), unit(30, seed=1), strict=True))
    gone = {*range(0, ROWS, 4), 5, 6, 7, 90, 91}
    check(marked, {key: vector for key, vector in vectors.items() if key not in gone})
    assert marked._rows.dead == 3, "those that were copied before they were removed"
    assert marked.due is None


def test_rows_that_got_new_numbers_meanwhile_are_left_alone(marked: VectorIndex) -> None:
    running = Compaction(marked)
    assert running.copy_slice()
    marked.compact()
    assert not running.copy_slice()
    running.finish()
    check(marked, {key: v for key, v in enumerate(unit(ROWS)) if key % 4})


def test_searches_and_writes_go_on(corpora: Corpora, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_index, "PAUSE_SECONDS", 0.3)
    corpus = corpora.create("big", model="m", space="s", dimension=DIMENSION)
    corpus.upsert(sample_documents(ROWS), sample_vectors(ROWS))
    corpus.delete([f"d{i}" for i in range(0, ROWS, 4)])
    corpus.upsert([Document("new", "new")], sample_vectors(1, seed=7))
    (hits,) = corpus.search(sample_vectors(1, seed=7), k=ROWS)
    assert corpus._index._rows.dead == ROWS // 4, "neither waited for the slices"
    assert len(hits) == ROWS * 3 // 4 + 1
    assert hits[0].id == "new"
    corpus.settle()
    assert corpus._index._rows.dead == 0
    (again,) = corpus.search(sample_vectors(1, seed=7), k=ROWS)
    assert again == hits
