"""Documents and vectors to test with."""

from __future__ import annotations

import numpy as np

from service.inference.session import Vectors
from service.search.corpora import Corpora, Corpus
from service.search.document import Document

DIMENSION = 8
LANGUAGES = ("de", "en", "fr", None)
TOPICS = ("law", "art", "sea")


def sample_documents(count: int, *, start: int = 0) -> list[Document]:
    """Documents d0, d1 ... that cycle through languages and topics and are numbered by `n`."""
    return [
        Document(
            f"d{i}",
            f"text {i}",
            LANGUAGES[i % len(LANGUAGES)],
            {"topic": TOPICS[i % len(TOPICS)], "n": i},
        )
        for i in range(start, start + count)
    ]


def sample_vectors(count: int, *, seed: int = 0, dimension: int = DIMENSION) -> Vectors:
    """Random float32 [count, dimension], not of length 1."""
    return np.random.default_rng(seed).standard_normal((count, dimension)).astype(np.float32)


def make_corpus(corpora: Corpora, name: str = "demo", *, documents: int = 0) -> Corpus:
    """A corpus with the first so many sample documents and vectors."""
    corpus = corpora.create(name, model="tiny", space="tiny-space", dimension=DIMENSION)
    corpus.upsert(sample_documents(documents), sample_vectors(documents))
    return corpus
