"""The built-in store, and bare FAISS with the index that the store has built."""

from __future__ import annotations

import math
import shutil
import time
from collections.abc import Mapping
from pathlib import Path

from benchmarks.search.measure import BATCH, latencies_ms, queries_a_second, recall, resident_mib
from service.inference.session import Vectors
from service.search.corpora import Corpora, Corpus
from service.search.corpus import INDEX_FILE
from service.search.document import Document
from service.search.index_file import read_index_file
from service.search.native import faiss
from service.search.policy import IndexPolicy

UPSERT = 1_000
MOST_PROBES = 2
"""Of the store's: more would not help, where 8 bits lose what is missing."""
CLASSES = {"50 %": {"half": 1}, "5 %": {"part": 1}, "0.5 %": {"few": 1}}


def fill(work: Path, vectors: Vectors, policy: IndexPolicy) -> tuple[Corpora, Corpus, float]:
    """Upsert ready-made vectors from one thread; return the store and documents a second."""
    shutil.rmtree(work, ignore_errors=True)
    corpora = Corpora(work)
    corpus = corpora.create("bench", model="m", space="s", dimension=vectors.shape[1], index=policy)
    began = time.perf_counter()
    for at in range(0, len(vectors), UPSERT):
        corpus.upsert(
            [_document(row) for row in range(at, min(at + UPSERT, len(vectors)))],
            vectors[at : at + UPSERT],
        )
    return corpora, corpus, len(vectors) / (time.perf_counter() - began)


def measure_store(
    work: Path, vectors: Vectors, queries: Vectors, threshold: Vectors, *, seconds: float
) -> dict[str, float]:
    """Fill, build, search, filter, close and open; return the figures by name."""
    before = resident_mib()
    corpora, corpus, rate = fill(work, vectors, IndexPolicy())
    began = time.perf_counter()
    corpus.settle()
    figures = {"upserts/s": rate, "build s": time.perf_counter() - began}
    corpora.close()
    began = time.perf_counter()
    corpora = Corpora(work)
    figures["open s"] = time.perf_counter() - began
    corpus = corpora.get("bench")
    figures["first search s"] = _seconds(corpus, queries[:1], None)
    figures["memory MiB"] = resident_mib() - before
    hits = corpus.search(queries, k=10)
    found = [[int(hit.id) for hit in row] for row in hits]
    figures["recall@10"] = recall(found, vectors, queries, threshold)
    if (clusters := corpus._index._clusters) is not None:
        figures["clusters"] = clusters.clusters
        figures["clusters looked at"] = clusters.probes
    for at_once in (1, BATCH):
        figures[f"queries/s, {at_once} a call"] = queries_a_second(
            lambda q: corpus.search(q, k=10), queries, at_once=at_once, seconds=seconds
        )
    for name, wanted in CLASSES.items():
        figures[f"filter {name}: first ms"] = 1000 * _seconds(corpus, queries[:1], wanted)
        p50, p95, p99 = latencies_ms(
            lambda q, wanted=wanted: corpus.search(q, k=10, filter=wanted),  # type: ignore[misc]
            queries,
            seconds=seconds,
        )
        figures |= {
            f"filter {name}: p50 ms": p50,
            f"filter {name}: p95 ms": p95,
            f"filter {name}: p99 ms": p99,
        }
    figures["disk MB"] = sum(path.stat().st_size for path in (work / "bench").iterdir()) / 1e6
    corpora.close()
    return figures


def measure_bare_faiss(
    work: Path,
    vectors: Vectors,
    queries: Vectors,
    threshold: Vectors,
    *,
    seconds: float,
    at_least: float,
) -> dict[str, float]:
    """Search the index that the store saved with FAISS alone, on one thread.

    The store ranks the last by stored vectors, FAISS by 8 bits: it begins with as many clusters,
    and looks at 5 % more of them until its recall is `at_least` what the store's is.
    """
    saved = read_index_file(work / "bench" / INDEX_FILE)
    faiss.omp_set_num_threads(1)
    header = saved.header
    index = saved.parts[1] if header.clustered else saved.parts[0]
    probes = header.probes

    def search(batch: Vectors) -> Vectors:
        rows: Vectors = index.search(batch, 10, params=parameters)[1]
        return rows

    while True:
        parameters = _bare_parameters(probes, header.first_pass) if header.clustered else None
        reached = recall(search(queries).tolist(), vectors, queries, threshold)
        if reached >= at_least or not header.clustered or probes > MOST_PROBES * header.probes:
            break
        probes = math.ceil(1.05 * probes)
    figures = {"recall@10": reached, "clusters looked at": float(probes)}
    for at_once in (1, BATCH):
        figures[f"queries/s, {at_once} a call"] = queries_a_second(
            search, queries, at_once=at_once, seconds=seconds
        )
    return figures


def _bare_parameters(probes: int, first_pass: int) -> object:
    return faiss.IndexRefineSearchParameters(
        k_factor=first_pass / 10, base_index_params=faiss.SearchParametersIVF(nprobe=probes)
    )


def ratios(ours: Mapping[str, float], bare: Mapping[str, float]) -> dict[str, float]:
    """Return our queries a second over bare FAISS's."""
    return {
        f"of bare FAISS, {at_once} a call": ours[f"queries/s, {at_once} a call"]
        / bare[f"queries/s, {at_once} a call"]
        for at_once in (1, BATCH)
    }


def _document(row: int) -> Document:
    metadata = {
        "half": row % 2,
        "part": int(row % 20 == 0),
        "few": int(row % 200 == 0),
    }
    return Document(str(row), f"text {row}", "en", metadata)


def _seconds(corpus: Corpus, query: Vectors, wanted: Mapping[str, object] | None) -> float:
    began = time.perf_counter()
    (hits,) = corpus.search(query, k=10, filter=wanted)
    took = time.perf_counter() - began
    matching = corpus.info().documents if wanted is None else _matching(corpus, wanted)
    assert len(hits) == min(10, matching), "a filter costs no hits"
    return took


def _matching(corpus: Corpus, wanted: Mapping[str, object]) -> int:
    return len(corpus.page(limit=10, filter=wanted).documents)
