"""The demo corpus's vectors, made beforehand: those of the default model, or none."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from service.api.loading import close, load
from service.demo.loader import read_documents
from service.demo.vectors import read_vectors, write_vectors
from service.inference.encoder import Encoder
from service.inference.session import Vectors
from service.search.corpus import STORE_FILE
from service.settings import Settings
from service.shipped import DEMO_CORPUS, shipped_models
from service.telemetry.metrics import Metrics


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "corpus.jsonl"
    lines = [json.dumps({"id": str(n), "text": t}) for n, t in enumerate(["Fresh", "bread", "now"])]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_those_that_ship_are_of_the_default_model_and_text() -> None:
    encoder = Encoder(shipped_models()[0])
    vectors = read_vectors(encoder.manifest.identity)
    assert vectors is not None, "python -m service.demo.vectors makes them anew"
    texts = [document.text for batch in read_documents(DEMO_CORPUS) for document in batch]
    assert vectors.shape == (len(texts), encoder.dimension)
    chosen = range(0, len(texts), 50)
    fresh = encoder.encode([texts[i] for i in chosen])
    assert float((fresh * vectors[chosen]).sum(axis=1).min()) > 0.9995


def test_another_model_or_another_text_has_none(
    tiny_encoder: Encoder, corpus: Path, tmp_path: Path
) -> None:
    path = tmp_path / "vectors.npz"
    assert read_vectors("a", path=path, corpus=corpus) is None
    write_vectors(tiny_encoder, path=path, corpus=corpus)
    identity = tiny_encoder.manifest.identity
    found = read_vectors(identity, path=path, corpus=corpus)
    assert found is not None
    np.testing.assert_allclose(found, tiny_encoder.encode(["Fresh", "bread", "now"]), atol=0.01)
    assert read_vectors("another", path=path, corpus=corpus) is None
    corpus.write_text(corpus.read_text(encoding="utf-8").replace("bread", "Brot"), encoding="utf-8")
    assert read_vectors(identity, path=path, corpus=corpus) is None


def test_a_fresh_directory_is_filled_without_encoding_and_an_older_one_mended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encode = Encoder.encode

    def few(self: Encoder, texts: Sequence[str] | str, **options: Any) -> Vectors:  # noqa: ANN401
        assert isinstance(texts, str) or len(texts) < 100, "the demo corpus is not to be encoded"
        return encode(self, texts, **options)

    monkeypatch.setattr(Encoder, "encode", few)
    settings = Settings(data=tmp_path, model=[shipped_models()[0]])
    resources = load(settings, Metrics())
    try:
        assert resources.corpora.get("demo").count() == 3000
    finally:
        close(resources)
    as_an_earlier_build_left_it(tmp_path / "corpora" / "demo" / STORE_FILE)
    resources = load(settings, Metrics())
    try:
        demo = resources.corpora.get("demo")
        identity = resources.default_encoder.manifest.identity
        shipped = read_vectors(identity)
        assert shipped is not None
        assert (demo.count(), demo.identity) == (3000, identity)
        ids = [document.id for batch in read_documents(DEMO_CORPUS) for document in batch]
        np.testing.assert_allclose(demo.vectors_of(ids), shipped, atol=1e-6)
    finally:
        close(resources)


def as_an_earlier_build_left_it(database: Path) -> None:
    """Make every vector another, and take out what says by which weights."""
    with closing(sqlite3.connect(database)) as connection:
        connection.executescript("""
            UPDATE vectors SET vector = (SELECT vector FROM vectors LIMIT 1);
            ALTER TABLE corpus DROP COLUMN identity;
            PRAGMA user_version = 3;
        """)
