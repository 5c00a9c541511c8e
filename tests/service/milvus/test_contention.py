"""Several services that start at once over one fresh engine."""

from __future__ import annotations

import importlib.util
import json
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from benchmarks.drills.engine import Engine
from service.demo.loader import load_demo
from service.errors import StorageError
from service.inference.session import Vectors
from service.search.document import Document

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),  # the client's own
    pytest.mark.skipif(
        importlib.util.find_spec("milvus_lite") is None
        or importlib.util.find_spec("pymilvus") is None,
        reason="the extra milvus is not installed",
    ),
]
SERVICES = 3


def test_all_find_the_demo_corpus(tmp_path: Path) -> None:
    from service.milvus.corpora import MilvusCorpora

    path = tmp_path / "corpus.jsonl"
    documents = [{"id": f"d{i}", "text": f"text {i}", "language": "en"} for i in range(50)]
    path.write_text("\n".join(map(json.dumps, documents)))
    together = threading.Barrier(SERVICES)

    def encode(texts: Sequence[Document]) -> Vectors:
        return np.random.default_rng(0).standard_normal((len(texts), 4)).astype(np.float32)

    def start(engine: MilvusCorpora) -> None:
        together.wait()
        load_demo(engine, encode, model="m", space="s", dimension=4, path=path)

    def start_all(directory: Path) -> list[int]:
        with Engine(directory) as engine:
            services = [MilvusCorpora(engine.url) for _ in range(SERVICES)]
            with ThreadPoolExecutor(SERVICES) as pool:
                list(pool.map(start, services))
            counts = [service.get("demo").count() for service in services]
            for service in services:
                service.close()
            return counts

    try:
        counts = start_all(tmp_path / "engine")
    except StorageError as error:
        # Milvus Lite, on a busy machine, may close the log of a collection for good.
        if "WAL already closed" not in str(error):
            raise
        together.reset()
        counts = start_all(tmp_path / "another")
    assert counts == [50] * SERVICES


def test_a_corpus_made_behind_the_look_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from service.milvus.corpora import MilvusCorpora

    with Engine(tmp_path / "engine") as engine:
        first, second = MilvusCorpora(engine.url), MilvusCorpora(engine.url)
        look = second._client.has_collection

        def look_too_early(name: str) -> bool:
            there = bool(look(name))
            corpus = first.create("a", model="m", space="s", dimension=2)
            corpus.upsert([Document("d", "text")], np.ones((1, 2), dtype=np.float32))
            return there

        monkeypatch.setattr(second._client, "has_collection", look_too_early)
        with pytest.raises(StorageError, match="already exist"):
            second.create("a", model="m", space="s", dimension=2)
        assert first.get("a").count() == 1
        first.close()
        second.close()


def test_a_collection_that_a_break_left_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from service.milvus import corpora

    monkeypatch.setattr(corpora, "MAKING_SECONDS", 0.5)
    with Engine(tmp_path / "engine") as engine:
        service = corpora.MilvusCorpora(engine.url)
        left = service.create("a", model="m", space="s", dimension=2)
        left.upsert([Document("d", "text")], np.ones((1, 2), dtype=np.float32))
        service._client.delete(corpora.REGISTRY, filter='name == "a"')
        assert service.create("a", model="m", space="s", dimension=2).count() == 0
        service.close()
