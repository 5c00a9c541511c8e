"""What a model and a corpus cost in memory and on disk; a corpus opened and searched.

    python -m benchmarks.memory [--documents 100000] [--dimension 384]

The vectors are random and the texts of a sentence's length, which is what counts here. Each figure
comes from a fresh process, as after a restart.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.arguments import whole_number
from service.inference.encoder import Encoder
from service.search.corpora import Corpora
from service.search.document import Document
from service.shipped import shipped_models

BATCH = 5000


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=whole_number, default=100_000)
    parser.add_argument("--dimension", type=whole_number, default=384)
    parser.add_argument("--opened", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--loaded", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.opened is not None:
        opened(options.opened, options.dimension)
        return
    if options.loaded is not None:
        loaded(options.loaded)
        return
    for model in shipped_models():
        size = sum(file.stat().st_size for file in model.iterdir()) / 1e6
        print(f"{model.name}: {size:.0f} MB on disk, {grown(f'--loaded={model}') / 1e6:.0f} loaded")
    with tempfile.TemporaryDirectory() as data:
        kind = fill(Path(data), options.documents, options.dimension)
        files = [file.stat().st_size for file in Path(data).rglob("*") if file.is_file()]
        print(f"documents: {options.documents:,}, {options.dimension} dimensions, index {kind}")
        print(f"on disk, index included: {sum(files) / options.documents:,.0f} bytes a document")
        memory = grown(f"--opened={data}", f"--dimension={options.dimension}")
        print(f"in memory, searched: {memory / options.documents:,.0f} bytes a document")


def grown(*flags: str) -> int:
    """Return the bytes by which a fresh process of this module grows, asked with `flags`."""
    command = [sys.executable, "-m", "benchmarks.memory", *flags]
    before, after = map(
        int, subprocess.run(command, capture_output=True, check=True).stdout.split()
    )
    return after - before


def fill(data: Path, documents: int, dimension: int) -> str:
    """Write the corpus; return the kind of its index, when that is built."""
    random = np.random.default_rng(0)
    corpora = Corpora(data)
    corpus = corpora.create("large", model="any", space="any", dimension=dimension)
    for start in range(0, documents, BATCH):
        numbers = range(start, min(start + BATCH, documents))
        batch = [Document(id=str(n), text=f"{n} {'word ' * 14}") for n in numbers]
        corpus.upsert(batch, random.standard_normal((len(batch), dimension), dtype=np.float32))
    corpus.settle()
    kind = corpus.info().index
    corpora.close()
    return kind


def opened(data: Path, dimension: int) -> None:
    """Print the resident bytes before the corpus is opened and after it was searched."""
    before = resident_bytes()
    corpora = Corpora(data)
    corpus = corpora.get("large")
    for seed in range(5):
        query = np.random.default_rng(seed).standard_normal((1, dimension), dtype=np.float32)
        corpus.search(query, k=10)
    print(before, resident_bytes())
    corpora.close()


def loaded(model: Path) -> None:
    """Print the resident bytes before a model is loaded and after it has encoded."""
    before = resident_bytes()
    encoder = Encoder(model)
    encoder.encode(["A sentence of a common length, encoded in a batch of others."] * 256)
    print(before, resident_bytes())


def resident_bytes() -> int:
    """Return the resident set of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    main()
