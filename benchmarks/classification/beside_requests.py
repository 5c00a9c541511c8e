"""What a fit costs those who ask meanwhile: the time of single requests, alone and beside a fit.

    python -m benchmarks.classification.beside_requests [--model DIR] [--examples 100000]

One client asks for the vector of one text after the other. A second sends made-up examples and has
a classifier fitted on them: lines are read, texts encoded behind the requests, weights fitted.
"""

from __future__ import annotations

import argparse
import http.client
import json
import statistics
import time
import urllib.parse
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor

import numpy as np

from benchmarks.arguments import existing_folder, whole_number
from benchmarks.classification.api import Api
from benchmarks.models import FAST
from benchmarks.serving import demo_texts
from service.classification.example import Example
from training.served import served

_LABELS = 20
_ALONE_SECONDS = 5.0


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=existing_folder, default=FAST)
    parser.add_argument("--examples", type=whole_number, default=100_000)
    options = parser.parse_args()
    # Another process sends the examples: its work must not hold up the one that takes the time.
    with served(options.model) as server, ProcessPoolExecutor(1) as other:
        until = time.monotonic() + _ALONE_SECONDS
        _tell("alone", _ask(server.url, lambda: time.monotonic() > until))
        fitting = other.submit(_fit, server.url, options.examples)
        found = _ask(server.url, fitting.done)
        print(f"{options.examples:,} examples sent, encoded and fitted in {fitting.result():.1f} s")
    _tell("beside the fit", found)


def _fit(url: str, count: int) -> float:
    """Return the seconds that a fit of `count` examples takes."""
    examples = _examples(count)
    began = time.monotonic()
    Api(url).fit("measured", examples, options={"contradictions": "drop"})
    return time.monotonic() - began


def _examples(count: int) -> list[Example]:
    """Return sentences of the demo corpus, each with a number, and labels by chance."""
    labels = np.random.default_rng(0).integers(_LABELS, size=count)
    texts = demo_texts()
    return [
        Example(f"{texts[number % len(texts)]} {number}", (str(label),), "en")
        for number, label in enumerate(labels.tolist())
    ]


def _ask(url: str, over: Callable[[], bool]) -> list[float]:
    """Return the milliseconds of one request after the other until it is `over`."""
    connection = http.client.HTTPConnection(urllib.parse.urlsplit(url).netloc)
    body = json.dumps({"inputs": "How do I change my password?"})
    found = []
    while not over():
        began = time.perf_counter()
        connection.request("POST", "/embed", body, {"content-type": "application/json"})
        response = connection.getresponse()
        answer = response.read()
        if response.status != http.client.OK:  # quick, and not what is measured
            raise SystemExit(f"/embed answered {response.status}: {answer[:500]!r}")
        found.append(1000 * (time.perf_counter() - began))
    connection.close()
    return found


def _tell(when: str, milliseconds: list[float]) -> None:
    cuts = statistics.quantiles(milliseconds, n=100)
    print(
        f"{when}: {len(milliseconds):,} requests of one text, median {cuts[49]:.2f} ms, "
        f"95th percentile {cuts[94]:.2f} ms, 99th {cuts[98]:.2f} ms, worst {max(milliseconds):.0f}"
    )


if __name__ == "__main__":
    main()
