"""What each format of vectors costs in quality: the search in the demo corpus, and STS.

    python -m benchmarks.vector_formats [--model DIR] [--pairs en.dev.tsv.gz] [--dimensions N]

Search: of all documents, each a query, how many have a translation as their nearest other document.
Floats and int8 are compared by cosine, bits by how many agree; of documents that are equally near
the share that is right counts. `--pairs` names a file with the columns sentence1, sentence2 and
score; then Spearman's correlation is given too.
"""

from __future__ import annotations

import argparse
import json
from typing import get_args

import numpy as np
import numpy.typing as npt

from benchmarks.arguments import existing_folder, whole_number
from benchmarks.models import FAST
from benchmarks.pairs import pairs_file, spearman
from service.inference.encoder import Encoder
from service.inference.formats import Format, Formatted, to_format
from service.inference.session import Vectors
from service.inference.vectors import finish, normalise
from service.shipped import DEMO_CORPUS


def comparable(formatted: Formatted, format: Format) -> Vectors:
    """Return rows whose products rank as the format's own comparison does.

    Bits become 1 and -1, whose products are whole numbers: equal ones are equal on every machine.
    """
    if format in ("binary", "ubinary"):
        unsigned = formatted if format == "ubinary" else (formatted.astype(np.int16) + 128)
        bits = np.unpackbits(unsigned.astype(np.uint8), axis=1)
        return bits.astype(np.float32) * 2 - 1
    return normalise(formatted.astype(np.float32))


def demo_accuracy(rows: Vectors, statements: npt.NDArray[np.str_]) -> float:
    """Return the percentage of documents whose nearest other is of the same statement."""
    right = 0.0
    for start in range(0, len(rows), 512):
        products = rows[start : start + 512] @ rows.T
        products[np.arange(len(products)), start + np.arange(len(products))] = -np.inf
        nearest = products == products.max(axis=1, keepdims=True)
        same = statements[start : start + 512, None] == statements
        right += float(((nearest & same).sum(axis=1) / nearest.sum(axis=1)).sum())
    return 100 * right / len(rows)


def main() -> None:
    """Print a row for each format."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=existing_folder, default=FAST)
    parser.add_argument("--pairs", type=pairs_file)
    parser.add_argument("--dimensions", type=whole_number)
    options = parser.parse_args()
    encoder = Encoder(options.model)
    documents = [json.loads(line) for line in DEMO_CORPUS.read_bytes().splitlines()]
    statements = np.array([document["metadata"]["statement"] for document in documents])
    vectors = encoder.encode([document["text"] for document in documents], normalize=False)
    sides = [
        encoder.encode(texts, normalize=False)
        for texts in (options.pairs.sides if options.pairs else ())
    ]

    print("| format | bytes a vector | least cosine | demo P@1 | STS |\n|---|---|---|---|---|")
    for format in get_args(Format):
        cut = [
            finish(part, dimensions=options.dimensions, normalised=True)
            for part in (vectors, *sides)
        ]
        formatted = [to_format(part, format) for part in cut]
        rows = [comparable(part, format) for part in formatted]
        least = float((normalise(rows[0]) * normalise(cut[0])).sum(axis=1).min())
        shown = f"{spearman(rows[1:], options.pairs.scores):.2f}" if options.pairs else ""
        accuracy = demo_accuracy(rows[0], statements)
        size = formatted[0][0].nbytes
        print(f"| {format} | {size} | {least:.5f} | {accuracy:.2f} | {shown} |")


if __name__ == "__main__":
    main()
