"""What each format of vectors costs in quality: the search in the demo corpus, and STS.

    python benchmarks/vector_formats.py --model models/interlingua-fast [--pairs en.dev.tsv.gz]

Search: of all documents, each a query, how many have a translation as their nearest other document.
Floats and int8 are compared by cosine, bits by how many agree. `--pairs` names a file with the
columns sentence1, sentence2 and score; then Spearman's correlation is given too.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
from pathlib import Path
from typing import get_args

import numpy as np
import numpy.typing as npt

from service.inference.encoder import Encoder
from service.inference.formats import Format, Formatted, to_format
from service.inference.vectors import finish, normalise
from service.shipped import DEMO_CORPUS

Floats = npt.NDArray[np.float32]


def comparable(formatted: Formatted, format: Format) -> Floats:
    """Return rows whose products rank as the format's own comparison does."""
    if format in ("binary", "ubinary"):
        unsigned = formatted if format == "ubinary" else (formatted.astype(np.int16) + 128)
        bits = np.unpackbits(unsigned.astype(np.uint8), axis=1)
        return normalise(bits.astype(np.float32) * 2 - 1)
    return normalise(formatted.astype(np.float32))


def demo_accuracy(rows: Floats, statements: npt.NDArray[np.str_]) -> float:
    """Return the percentage of documents whose nearest other is of the same statement."""
    right = 0
    for start in range(0, len(rows), 512):
        cosines = rows[start : start + 512] @ rows.T
        cosines[np.arange(len(cosines)), start + np.arange(len(cosines))] = -2
        nearest = cosines.argmax(axis=1)
        right += int((statements[nearest] == statements[start : start + 512]).sum())
    return 100 * right / len(rows)


def spearman(first: Floats, second: Floats, scores: Floats) -> float:
    """Return Spearman's correlation of the rows' cosines with `scores`, times 100."""
    from scipy.stats import spearmanr

    return 100 * float(spearmanr((first * second).sum(axis=1), scores).statistic)


def main() -> None:
    """Print a row for each format."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, default=Path("models/interlingua-fast"))
    parser.add_argument("--pairs", type=Path)
    parser.add_argument("--dimensions", type=int)
    options = parser.parse_args()
    encoder = Encoder(options.model)
    documents = [json.loads(line) for line in DEMO_CORPUS.read_bytes().splitlines()]
    statements = np.array([document["metadata"]["statement"] for document in documents])
    vectors = encoder.encode([document["text"] for document in documents], normalize=False)
    pairs: list[dict[str, str]] = []
    if options.pairs:
        with gzip.open(options.pairs, "rt", encoding="utf-8") as file:
            pairs = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    sides = [
        encoder.encode([row[name] for row in pairs], normalize=False)
        for name in ("sentence1", "sentence2")
    ]
    scores = np.array([float(row["score"]) for row in pairs], dtype=np.float32)

    print("| format | bytes a vector | least cosine | demo P@1 | STS |\n|---|---|---|---|---|")
    for format in get_args(Format):
        cut = [
            finish(part, dimensions=options.dimensions, normalised=True)
            for part in (vectors, *sides)
        ]
        formatted = [to_format(part, format) for part in cut]
        rows = [comparable(part, format) for part in formatted]
        least = float((rows[0] * normalise(cut[0])).sum(axis=1).min())
        shown = f"{spearman(rows[1], rows[2], scores):.2f}" if pairs else ""
        accuracy = demo_accuracy(rows[0], statements)
        size = formatted[0][0].nbytes
        print(f"| {format} | {size} | {least:.5f} | {accuracy:.2f} | {shown} |")


if __name__ == "__main__":
    main()
