"""Searches and writes at once: what a search shows was all there at one moment."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import numpy as np
import pytest

from service.search import live_index
from service.search.compaction import Compaction
from service.search.corpora import Corpora, Corpus
from service.search.document import Document, Hit
from service.search.native import faiss
from tests.service.search.samples import make_corpus, sample_vectors

SECONDS = 1.5
GROUP = 10


class Traffic:
    """Threads that write and search one corpus, and note what should not have been seen.

    Group a is replaced again and again, group b comes and goes. A search must show a whole and of
    one version, and b whole or not at all: never fewer hits than documents, never half a batch.
    """

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self.query = sample_vectors(1)
        self.vectors = np.repeat(self.query, GROUP, axis=0)
        self.stop = threading.Event()
        self.failures: list[str] = []
        self.searches = 0

    def run(self, *works: Callable[[], None]) -> None:
        self.corpus.upsert(group("a", 0), self.vectors)
        threads = [threading.Thread(target=self._repeat, args=(work,)) for work in works]
        for thread in threads:
            thread.start()
        time.sleep(SECONDS)
        self.stop.set()
        for thread in threads:
            thread.join()

    def replace(self) -> None:
        version = time.monotonic_ns()
        self.corpus.upsert(group("a", version), self.vectors)
        texts = {hit.text for hit in self._hits() if hit.id.startswith("a")}
        if texts != {f"version {version}"}:
            self.failures.append(f"acknowledged version {version}, found {texts}")

    def come_and_go(self) -> None:
        self.corpus.upsert(group("b", 0), self.vectors)
        self.corpus.delete([document.id for document in group("b", 0)])

    def search(self) -> None:
        hits = self._hits()
        of_a = [hit.text for hit in hits if hit.id.startswith("a")]
        if len(of_a) != GROUP or len(set(of_a)) != 1 or len(hits) - GROUP not in (0, GROUP):
            self.failures.append(f"{len(hits)} hits, of a {of_a}")
        self.searches += 1

    def _hits(self) -> list[Hit]:
        (hits,) = self.corpus.search(self.query, k=100, filter={"not": {"x": 1}})
        return hits

    def _repeat(self, work: Callable[[], None]) -> None:
        try:
            while not self.stop.is_set():
                work()
        except Exception as error:
            self.failures.append(repr(error))


def group(name: str, version: int) -> list[Document]:
    return [Document(f"{name}{i}", f"version {version}") for i in range(GROUP)]


def test_searches_beside_writes_show_whole_batches(corpora: Corpora) -> None:
    traffic = Traffic(make_corpus(corpora))
    traffic.run(traffic.replace, traffic.come_and_go, traffic.search, traffic.search)
    assert traffic.failures == []
    assert traffic.searches > 10


def test_search_uses_one_thread_whichever_runs_it(corpora: Corpora) -> None:
    corpus = make_corpus(corpora, documents=10)
    used: list[int] = []

    def search() -> None:
        corpus.search(sample_vectors(1), k=3)
        used.append(faiss.omp_get_max_threads())

    thread = threading.Thread(target=search)
    thread.start()
    thread.join()
    assert used == [1]


def test_drop_beside_searches_ends_them_in_order(corpora: Corpora) -> None:
    corpus = make_corpus(corpora, documents=60)
    outcomes: list[str] = []

    def search() -> None:
        try:
            while True:
                assert len(corpus.search(sample_vectors(1), k=60)[0]) == 60
        except Exception as error:
            outcomes.append(type(error).__name__)

    threads = [threading.Thread(target=search) for _ in range(3)]
    for thread in threads:
        thread.start()
    time.sleep(0.1)
    corpora.drop("demo")
    for thread in threads:
        thread.join()
    assert outcomes == ["UnavailableError"] * 3


MANY = 20_000
WIDTH = 64


def test_searches_go_on_while_an_index_is_compacted_and_saved(
    corpora: Corpora, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Several of both happen meanwhile; what is acknowledged is found within a second."""
    monkeypatch.setattr(live_index, "SAVE_ROWS", 1000)
    compactions = 0
    finish = Compaction.finish

    def counted(compaction: Compaction) -> None:
        nonlocal compactions
        compactions += 1
        finish(compaction)

    monkeypatch.setattr(Compaction, "finish", counted)
    corpus = corpora.create("big", model="m", space="s", dimension=WIDTH)
    vectors = sample_vectors(MANY, dimension=WIDTH)
    corpus.upsert([Document(f"{i}", "old") for i in range(MANY)], vectors)
    stop = threading.Event()
    searches = 0
    failures: list[str] = []
    kept = MANY // 2  # the upper half is never deleted

    def search() -> None:
        nonlocal searches
        rng = np.random.default_rng(threading.get_ident())
        while not stop.is_set():
            row = int(rng.integers(kept, MANY))
            (hits,) = corpus.search(vectors[row][None], k=5)
            searches += 1
            if len(hits) != 5 or hits[0].id != f"{row}":
                failures.append(f"document {row} is not its own nearest: {hits[:1]}")

    threads = [threading.Thread(target=search) for _ in range(2)]
    for thread in threads:
        thread.start()
    slowest = 0.0
    for start in range(0, kept, 1000):
        corpus.delete([f"{i}" for i in range(start, start + 1000)])
        new = sample_vectors(1, seed=start + 1, dimension=WIDTH)
        corpus.upsert([Document(f"new{start}", "new")], new)
        acknowledged = time.monotonic()
        assert corpus.search(new, k=1)[0][0].id == f"new{start}"
        slowest = max(slowest, time.monotonic() - acknowledged)
    corpus.settle()
    stop.set()
    for thread in threads:
        thread.join()
    assert failures == []
    assert compactions >= 2
    assert searches > 20
    assert slowest < 1, "an acknowledged document was not found within a second"
    assert corpus.info().documents == MANY - kept + kept // 1000
