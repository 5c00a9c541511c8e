"""Upserts a second: of ready-made vectors, and beside the encoder alone.

    python -m benchmarks.search.upserts --documents 100000

Runs on one core where it is started so: taskset -c 0, OMP_NUM_THREADS=1. Each commit is synced to
the disk that holds the temporary directory. `--words` sets the length of the texts: to store a
vector costs the same whatever it took to make it.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from benchmarks.arguments import existing_folder, whole_number
from benchmarks.models import FAST
from service.inference.encoder import Encoder
from service.inference.session import Vectors
from service.search.corpora import Corpora
from service.search.document import Document
from service.search.incoming import Incoming
from service.search.indexing import BATCH_DOCUMENTS, index_documents

WORDS = (
    "ice", "floats", "on", "cold", "water", "while", "the", "old", "library", "opens", "at", "nine",
    "and", "nobody", "reads",
)  # fmt: skip


def made_up(number: int, words: int) -> list[Document]:
    """Documents of so many words and a little metadata."""
    rng = np.random.default_rng(0)
    rows = rng.integers(0, len(WORDS), (number, words))
    return [
        Document(f"d{i}", " ".join(WORDS[w] for w in row), "en", {"n": i, "topic": "made up"})
        for i, row in enumerate(rows.tolist())
    ]


def ready_made(directory: Path, documents: Sequence[Document], dimension: int) -> float:
    """Return documents a second where the vectors are there already."""
    vectors = np.random.default_rng(1).standard_normal((len(documents), dimension), np.float32)
    corpora = Corpora(directory)
    corpus = corpora.create("ready", model="m", space="s", dimension=dimension)
    began = time.perf_counter()
    for start in range(0, len(documents), BATCH_DOCUMENTS):
        end = start + BATCH_DOCUMENTS
        corpus.upsert(documents[start:end], vectors[start:end])
    seconds = time.perf_counter() - began
    corpora.close()
    return len(documents) / seconds


def encoder_alone(encoder: Encoder, documents: Sequence[Document]) -> float:
    """Return documents a second that are only encoded, in batches of the same size."""
    encoder.encode([d.text for d in documents[:BATCH_DOCUMENTS]])  # warms up
    began = time.perf_counter()
    for start in range(0, len(documents), BATCH_DOCUMENTS):
        encoder.encode([d.text for d in documents[start : start + BATCH_DOCUMENTS]])
    return len(documents) / (time.perf_counter() - began)


def encoded_and_stored(directory: Path, encoder: Encoder, documents: Sequence[Document]) -> float:
    """Return documents a second that are encoded, committed and searchable."""
    corpora = Corpora(directory)
    corpus = corpora.create(
        "encoded", model=encoder.name, space=encoder.manifest.space, dimension=encoder.dimension
    )

    def embed(texts: Sequence[str]) -> Vectors:
        return encoder.encode(texts)

    def items() -> Iterator[Incoming]:
        return map(Incoming, documents)

    began = time.perf_counter()
    for _ in index_documents(corpus, items(), embed):
        pass
    seconds = time.perf_counter() - began
    corpora.close()
    return len(documents) / seconds


def main() -> None:
    """Print the rates and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=whole_number, default=100_000)
    parser.add_argument("--words", type=whole_number, default=12, help="of each document")
    parser.add_argument("--model", type=existing_folder, default=FAST)
    arguments = parser.parse_args()
    encoder = Encoder(arguments.model)
    documents = made_up(arguments.documents, arguments.words)
    with tempfile.TemporaryDirectory() as directory:
        ready = ready_made(Path(directory), documents, encoder.dimension)
        alone = encoder_alone(encoder, documents)
        stored = encoded_and_stored(Path(directory), encoder, documents)
    print(
        f"{encoder.name}, {len(documents)} documents of {arguments.words} words, "
        f"{encoder.dimension} numbers"
    )
    print(f"ready-made vectors   {ready:10,.0f} a second")
    print(f"encoder alone        {alone:10,.0f} a second")
    print(f"encoded and stored   {stored:10,.0f} a second, {stored / alone:.2f} of the encoder")


if __name__ == "__main__":
    main()
