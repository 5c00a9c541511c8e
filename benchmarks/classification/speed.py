"""How fast classifiers are fitted and asked.

    python -m benchmarks.classification.speed [--model DIR] [--examples 100000] [--rounds 100]

The fit is of made-up vectors, so it is the fit alone. /classify and /embed take turns; the latter
answers with vectors as JSON, as it does unless asked otherwise, and as bytes, the quickest way.
"""

from __future__ import annotations

import argparse
import json
import time

import numpy as np

from benchmarks.arguments import existing_folder, whole_number
from benchmarks.classification.taking_turns import Asked, take_turns
from benchmarks.models import FAST
from benchmarks.serving import demo_texts
from service.classification.fit import FitOptions, fit
from training.served import served

_LABELS = 20
_DIMENSION = 384
_TEXTS = 256
_JSON = {"content-type": "application/json"}
_BYTES = {**_JSON, "accept": "application/octet-stream"}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=existing_folder, default=FAST)
    parser.add_argument("--examples", type=whole_number, default=100_000)
    parser.add_argument("--rounds", type=whole_number, default=100, help="of four requests to each")
    options = parser.parse_args()
    wall, processor = fit_seconds(options.examples)
    print(
        f"fit of {options.examples:,} examples, {_LABELS} labels: {wall:.1f} s, "
        f"{processor:.1f} s of processor time"
    )
    texts = demo_texts()
    with served(options.model) as server:
        for count in (1, _TEXTS):
            bodies = [
                json.dumps({"inputs": texts[begin : begin + count]}).encode()
                for begin in range(0, len(texts) - count, count)
            ]
            for said, embed in (("as JSON", _JSON), ("as bytes", _BYTES)):
                ways = (Asked("/embed", embed), Asked("/classify", _JSON))
                found = take_turns(server.url, ways, bodies, rounds=options.rounds)
                print(
                    f"{count} texts a request: throughput of /classify over that of /embed {said}: "
                    f"{found.median:.3f} ({found.low:.3f} .. {found.high:.3f} in the middle "
                    f"half of {options.rounds} rounds); /embed {found.milliseconds[0]:.2f} ms, "
                    f"/classify {found.milliseconds[1]:.2f} ms"
                )


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


if __name__ == "__main__":
    main()
