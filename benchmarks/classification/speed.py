"""How fast classifiers are fitted and asked.

    python -m benchmarks.classification.speed [--model DIR] [--examples 100000] [--seconds 3]

The fit is of made-up vectors, so it is the fit alone; /classify and /embed take turns, so that
neither has the quieter machine.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
import urllib.request
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from service.classification.fit import FitOptions, fit
from service.shipped import DEMO_CORPUS, shipped_models
from training.served import served

_LABELS = 20
_DIMENSION = 384
_TEXTS = 256


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, default=shipped_models()[0])
    parser.add_argument("--examples", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, default=3.0, help="of each of ten turns")
    options = parser.parse_args()
    seconds = fit_seconds(options.examples)
    print(f"fit of {options.examples:,} examples, {_LABELS} labels: {seconds:.1f} s")
    texts = [json.loads(line)["text"] for line in DEMO_CORPUS.read_text("utf-8").splitlines()]
    with served(options.model) as server:
        rates: dict[str, list[float]] = {"/embed": [], "/classify": []}
        for path in rates:
            requests_rate(server.url, path, texts, 1.0)
        for _ in range(5):
            for path, found in rates.items():
                found.append(requests_rate(server.url, path, texts, options.seconds))
    for path, found in rates.items():
        middle, least, most = statistics.median(found), min(found), max(found)
        print(f"{path}: {middle:,.0f} texts/s ({least:,.0f} .. {most:,.0f})")
    ratios = [c / e for e, c in zip(rates["/embed"], rates["/classify"], strict=True)]
    print(f"/classify over /embed: {statistics.median(ratios):.3f}")


class _Nobody:
    def progress(self, done: int, total: int | None = None, note: str | None = None) -> None:
        """Take it."""

    def check(self) -> None:
        """Go on."""


def fit_seconds(examples: int) -> float:
    """Return how long the fit of so many made-up examples takes, choice of strength included."""
    random = np.random.default_rng(0)
    targets = random.integers(0, _LABELS, examples)
    centres = random.standard_normal((_LABELS, _DIMENSION), dtype=np.float32)
    vectors = random.standard_normal((examples, _DIMENSION), dtype=np.float32)
    vectors += 0.25 * centres[targets]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    began = time.perf_counter()
    fit(
        vectors, targets, labels=[str(n) for n in range(_LABELS)], languages=["en"] * examples,
        options=FitOptions(), watcher=_Nobody(),
    )  # fmt: skip
    return time.perf_counter() - began


def requests_rate(url: str, path: str, texts: Sequence[str], seconds: float) -> float:
    """Return texts a second of one client that sends them one request after the other."""
    bodies = [
        json.dumps({"inputs": texts[begin : begin + _TEXTS]}).encode()
        for begin in range(0, len(texts) - _TEXTS, _TEXTS)
    ]
    began = time.perf_counter()
    count = 0
    while time.perf_counter() - began < seconds:
        request = urllib.request.Request(
            url + path, bodies[count % len(bodies)], {"content-type": "application/json"}
        )
        with urllib.request.urlopen(request) as answer:
            answer.read()
        count += 1
    return count * _TEXTS / (time.perf_counter() - began)


if __name__ == "__main__":
    main()
