"""What a corpus costs in memory and on disk: opened and searched, per vector and with its text.

    python -m benchmarks.memory [--documents 100000] [--dimension 384]

The vectors are random and the texts of a sentence's length, which is what counts here.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from service.search.corpora import Corpora
from service.search.document import Document

BATCH = 5000


def main() -> None:
    """Measure and print; the corpus is opened by a fresh process, as after a restart."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--dimension", type=int, default=384)
    parser.add_argument("--opened", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.opened is not None:
        opened(options.opened, options.dimension)
        return
    with tempfile.TemporaryDirectory() as data:
        fill(Path(data), options.documents, options.dimension)
        size = sum(file.stat().st_size for file in Path(data).rglob("*") if file.is_file())
        print(f"documents: {options.documents:,}, {options.dimension} dimensions")
        print(f"on disk, index included: {size / options.documents:,.0f} bytes a document")
        command = [sys.executable, "-m", "benchmarks.memory", f"--opened={data}"]
        said = subprocess.run(
            [*command, f"--dimension={options.dimension}"], capture_output=True, check=True
        )
        before, after = map(int, said.stdout.split())
        print(f"in memory, searched: {(after - before) / options.documents:,.0f} bytes a document")


def fill(data: Path, documents: int, dimension: int) -> None:
    """Write the corpus."""
    random = np.random.default_rng(0)
    corpora = Corpora(data)
    corpus = corpora.create("large", model="any", space="any", dimension=dimension)
    for start in range(0, documents, BATCH):
        numbers = range(start, min(start + BATCH, documents))
        batch = [Document(id=str(n), text=f"{n} {'word ' * 14}") for n in numbers]
        corpus.upsert(batch, random.standard_normal((len(batch), dimension), dtype=np.float32))
    corpora.close()


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


def resident_bytes() -> int:
    """Return the resident set of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    main()
