"""The demo corpus's vectors, made beforehand: those of the default model, or none."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from service.demo.loader import load_demo, read_documents
from service.demo.vectors import read_vectors, write_vectors
from service.inference.encoder import Encoder
from service.search.corpora import Corpora
from service.shipped import DEMO_CORPUS, shipped_models


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


def test_a_fresh_directory_is_filled_without_encoding(corpus: Path, tmp_path: Path) -> None:
    def refuse(_: object) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
        raise AssertionError("nothing is to be encoded")

    opened = Corpora(tmp_path / "corpora")
    try:
        vectors = np.eye(3, 4, dtype=np.float32)
        count = load_demo(
            opened, refuse, model="m", space="s", dimension=4, path=corpus, vectors=vectors
        )
        assert count == 3
        assert opened.get("demo").count() == 3
    finally:
        opened.close()
