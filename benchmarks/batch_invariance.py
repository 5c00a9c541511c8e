"""Whether a text's vector depends on what shares its batch, in each precision that is to be had.

    python -m benchmarks.batch_invariance [MODEL ...]

The texts are sentences of the demo corpus and the odd ones of the tests: empty, broken, huge, of
every script. Each is encoded alone, and in batches of random neighbours. The figures are the
largest difference of any number of any vector, and the least cosine.
"""

from __future__ import annotations

import argparse
import random
from dataclasses import replace

import numpy as np

from benchmarks.arguments import existing_folder
from benchmarks.serving import machine
from service.huggingface.bundle import read_model
from service.inference.encoder import Encoder
from service.inference.execution import Execution, has_openvino
from service.inference.session import Vectors
from service.shipped import shipped_models
from tests.service.api.wild_texts import BROKEN, NAMED, demo_by_language

ORDERS = 3
LONGEST = 20_000
"""Characters that are left of the longest texts; models see some hundred tokens."""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", type=existing_folder, default=shipped_models()[:1])
    options = parser.parse_args()
    print(f"machine: {machine()}")
    texts = [text[:LONGEST] for text in (*NAMED.values(), *BROKEN.values())]
    texts += [text for sentences in demo_by_language().values() for text in sentences]
    print(f"{len(texts)} texts, each alone and in {ORDERS} batches")
    for model in options.models:
        for way in _ways():
            encoder = Encoder(read_model(model), execution=replace(way, streams=1))
            largest, least = differences(encoder, texts)
            print(f"{encoder.name:20} {way.name:18} {largest:.1e}  {least:.7f}", flush=True)


def differences(encoder: Encoder, texts: list[str]) -> tuple[float, float]:
    """Return the largest difference, and the least cosine, of vectors alone and in batches."""
    alone: Vectors = np.concatenate([encoder.encode([text]) for text in texts])
    largest, least = 0.0, 1.0
    for seed in range(ORDERS):
        order = list(range(len(texts)))
        random.Random(seed).shuffle(order)
        together = np.empty_like(alone)
        together[order] = encoder.encode([texts[place] for place in order])
        largest = max(largest, float(np.abs(together - alone).max()))
        known = np.linalg.norm(alone, axis=1) > 0
        least = min(least, float((together * alone).sum(axis=1)[known].min()))
    return largest, least


def _ways() -> list[Execution]:
    ways = [Execution()]
    if has_openvino():
        from service.openvino.session import supported_precisions

        ways += [Execution("openvino", precision) for precision in supported_precisions()]
    return ways


if __name__ == "__main__":
    main()
