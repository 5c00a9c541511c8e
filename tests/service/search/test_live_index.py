"""Clusters are built, kept and swapped while the corpus is in use."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from service.search import live_index, policy
from service.search.build import build_index
from service.search.corpora import Corpora, Corpus
from service.search.index import VectorIndex
from service.search.policy import IndexPolicy
from tests.service.search.samples import DIMENSION, sample_documents, sample_vectors

ROWS = 400


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, "FEWEST_CLUSTERED", 200)
    monkeypatch.setattr("service.search.index.ABSORB_FROM", 20)
    monkeypatch.setattr(live_index, "ABSORB_AT_ONCE", 16)


@pytest.fixture
def clustered(corpora: Corpora) -> Corpus:
    corpus = corpora.create(
        "big", model="m", space="s", dimension=DIMENSION, index=IndexPolicy("ivf")
    )
    corpus.upsert(sample_documents(ROWS), sample_vectors(ROWS))
    return corpus


def nearest(corpus: Corpus, number: int) -> str:
    (hits,) = corpus.search(sample_vectors(ROWS)[number][None], k=1)
    return hits[0].id


def test_clusters_come_by_themselves(clustered: Corpus) -> None:
    assert clustered.policy == IndexPolicy("ivf")
    clustered.settle()
    info = clustered.info()
    assert info.index == "ivf"
    assert info.recall is not None
    assert info.recall >= 0.98
    assert nearest(clustered, 7) == "d7"


def test_they_are_there_again_after_a_clean_stop(
    corpora: Corpora, clustered: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    clustered.settle()
    clustered.delete(["d7"])
    clustered.upsert(sample_documents(5, start=ROWS), sample_vectors(5, seed=4))
    corpora.close()

    def forbidden(*args: object, **kwargs: object) -> None:
        raise AssertionError("the index was built again")

    monkeypatch.setattr(live_index, "build_index", forbidden)
    monkeypatch.setattr(VectorIndex, "add", forbidden)
    opened = Corpora(corpora.directory)
    assert opened.get("big").info().index == "ivf"
    assert opened.get("big").policy == IndexPolicy("ivf")
    assert nearest(opened.get("big"), 8) == "d8"
    assert nearest(opened.get("big"), 7) != "d7"
    assert opened.get("big")._index._head == ROWS + 5, "the short tail went into the clusters"
    opened.close()


def test_what_is_added_is_found_at_once_and_absorbed(clustered: Corpus) -> None:
    clustered.settle()
    more = sample_vectors(100, seed=4)
    clustered.upsert(sample_documents(100, start=ROWS), more)
    assert [row[0].id for row in clustered.search(more, k=1)] == [
        f"d{ROWS + i}" for i in range(100)
    ]
    clustered.settle()
    assert clustered._index._head > ROWS
    assert len(clustered._index._rows) - clustered._index._head < 20
    assert [row[0].id for row in clustered.search(more, k=1)] == [
        f"d{ROWS + i}" for i in range(100)
    ]


def test_writes_during_a_build_are_in_what_it_brings(
    corpora: Corpora, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_build = threading.Event()

    def slow(*args: object, **kwargs: object) -> object:
        built = build_index(*args, **kwargs)  # type: ignore[arg-type]
        assert may_build.wait(30)
        return built

    monkeypatch.setattr(live_index, "build_index", slow)
    corpus = corpora.create(
        "big", model="m", space="s", dimension=DIMENSION, index=IndexPolicy("ivf")
    )
    corpus.upsert(sample_documents(ROWS), sample_vectors(ROWS))
    new = sample_vectors(10, seed=3)
    corpus.upsert(sample_documents(10, start=ROWS), new)
    corpus.delete(["d3", "d4"])
    assert corpus.info().index == "flat"
    assert nearest(corpus, 5) == "d5"  # searches go on
    may_build.set()
    corpus.settle()
    assert corpus.info().index == "ivf"
    assert [row[0].id for row in corpus.search(new, k=1)] == [f"d{ROWS + i}" for i in range(10)]
    assert nearest(corpus, 3) != "d3"
    with corpus._store.snapshot() as snapshot:
        assert snapshot.begin() == corpus._index.generation
        np.testing.assert_array_equal(snapshot.keys(), corpus._index.keys)


def test_a_build_that_fails_leaves_the_corpus_as_it_was(
    corpora: Corpora, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*args: object, **kwargs: object) -> None:
        raise MemoryError("not enough")

    monkeypatch.setattr(live_index, "build_index", broken)
    corpus = corpora.create(
        "big", model="m", space="s", dimension=DIMENSION, index=IndexPolicy("ivf")
    )
    corpus.upsert(sample_documents(ROWS), sample_vectors(ROWS))
    corpus.settle()
    assert corpus.info().index == "flat"
    assert nearest(corpus, 5) == "d5"
    assert "not enough" in caplog.text
