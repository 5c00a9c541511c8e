"""How fast classifiers are fitted and asked.

    python -m benchmarks.classification.speed [--model DIR] [--examples 100000] [--requests 200]

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
_WARM_UP = 20


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, default=shipped_models()[0])
    parser.add_argument("--examples", type=int, default=100_000)
    parser.add_argument("--requests", type=int, default=200, help="to each address")
    options = parser.parse_args()
    wall, processor = fit_seconds(options.examples)
    print(
        f"fit of {options.examples:,} examples, {_LABELS} labels: {wall:.1f} s, "
        f"{processor:.1f} s of processor time"
    )
    texts = [json.loads(line)["text"] for line in DEMO_CORPUS.read_text("utf-8").splitlines()]
    with served(options.model) as server:
        seconds = request_seconds(server.url, texts, options.requests)
    for path, found in seconds.items():
        quickest, *_, slowest = sorted(found)
        middle = statistics.median(found)
        print(f"{path}: {1000 * middle:.1f} ms a request of {_TEXTS} texts "
              f"({1000 * quickest:.1f} .. {1000 * slowest:.1f})")  # fmt: skip
    ratio = statistics.median(seconds["/embed"]) / statistics.median(seconds["/classify"])
    best = min(seconds["/embed"]) / min(seconds["/classify"])
    print(f"throughput of /classify over /embed: {ratio:.3f} (of the quickest: {best:.3f})")


class _Nobody:
    def progress(self, done: int, total: int | None = None, note: str | None = None) -> None:
        """Take it."""

    def check(self) -> None:
        """Go on."""


def fit_seconds(examples: int) -> tuple[float, float]:
    """Return the seconds that the fit of so many made-up examples takes, and those of processors.

    The choice of the strength is included.
    """
    random = np.random.default_rng(0)
    targets = random.integers(0, _LABELS, examples)
    centres = random.standard_normal((_LABELS, _DIMENSION), dtype=np.float32)
    vectors = random.standard_normal((examples, _DIMENSION), dtype=np.float32)
    vectors += 0.25 * centres[targets]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    began, processor = time.perf_counter(), time.process_time()
    fit(
        vectors, targets, labels=[str(n) for n in range(_LABELS)], languages=["en"] * examples,
        options=FitOptions(), watcher=_Nobody(),
    )  # fmt: skip
    return time.perf_counter() - began, time.process_time() - processor


def request_seconds(url: str, texts: Sequence[str], requests: int) -> dict[str, list[float]]:
    """Return how long each of `requests` took, address by address; the addresses take turns."""
    bodies = [
        json.dumps({"inputs": texts[begin : begin + _TEXTS]}).encode()
        for begin in range(0, len(texts) - _TEXTS, _TEXTS)
    ]
    seconds: dict[str, list[float]] = {"/embed": [], "/classify": []}
    for number in range(_WARM_UP + requests):
        for path, found in seconds.items():
            request = urllib.request.Request(
                url + path, bodies[number % len(bodies)], {"content-type": "application/json"}
            )
            began = time.perf_counter()
            with urllib.request.urlopen(request) as answer:
                answer.read()
            if number >= _WARM_UP:
                found.append(time.perf_counter() - began)
    return seconds


if __name__ == "__main__":
    main()
