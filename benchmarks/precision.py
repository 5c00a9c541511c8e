"""What each precision costs: how near vectors come to full precision, alone and in batches.

    python benchmarks/precision.py MODEL [--texts 2000] [--pairs stsb.tsv.gz]

The texts have 3 to 160 words of the demo corpus. `alone` compares a text's vector from a batch of
random neighbours with the one it has by itself. --pairs is a file of lines `one text, another,
score` with tabs between; the figure is Spearman's correlation of cosines with scores, x 100.
"""

from __future__ import annotations

import argparse
import gzip
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks.servers.texts import mixed_texts
from service.huggingface.bundle import read_model
from service.inference.encoder import Encoder
from service.inference.execution import Execution, has_openvino
from service.inference.vectors import normalise

_ALONE = 200


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("--texts", type=int, default=2000)
    parser.add_argument("--pairs", type=Path)
    options = parser.parse_args()
    bundle, texts = read_model(options.model), mixed_texts(options.texts)
    ways = [Execution()]
    if has_openvino():
        from service.openvino.session import supported_precisions

        ways += [Execution("openvino", precision) for precision in supported_precisions()]
    full = None
    print(f"{'':18} {'least':>8} {'mean':>8} {'alone, least':>13} {'pairs':>7}")
    for way in ways:
        encoder = Encoder(bundle, execution=replace(way, streams=1))
        vectors = normalise(encoder.encode(texts, normalize=False))
        full = vectors if full is None else full
        cosines = (vectors * full).sum(axis=1)
        some = texts[:: max(1, len(texts) // _ALONE)]
        alone = normalise(np.stack([encoder.encode(text, normalize=False) for text in some]))
        same = (alone * vectors[:: max(1, len(texts) // _ALONE)]).sum(axis=1)
        pairs = f"{_pairs(encoder, options.pairs):7.2f}" if options.pairs else ""
        print(
            f"{way.name:18} {cosines.min():8.4f} {cosines.mean():8.4f} {same.min():13.6f} {pairs}",
            flush=True,
        )


def _pairs(encoder: Encoder, path: Path) -> float:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        rows = [line.rstrip("\n").split("\t") for line in lines]
    rows = [row for row in rows if row[2].replace(".", "").isdigit()]  # less a line of names
    first, second = (
        normalise(encoder.encode([row[side] for row in rows], normalize=False)) for side in (0, 1)
    )
    cosines = (first * second).sum(axis=1)
    scores = np.array([float(row[2]) for row in rows])
    return 100 * float(np.corrcoef(_ranks(cosines), _ranks(scores))[0, 1])


def _ranks(values: npt.NDArray[np.floating]) -> Sequence[float]:
    """Return ranks, equal values sharing their mean rank."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = counts.cumsum()
    ranks: list[float] = ((ends - (counts - 1) / 2)[place]).tolist()
    return ranks


if __name__ == "__main__":
    main()
