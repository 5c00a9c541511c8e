"""Whether a server's memory grows: many requests of one text each, of random lengths.

    python -m benchmarks.servers.growth [--requests 100000] [--clients 64] [-- FLAGS OF SERVE]

Serves all-MiniLM-L6-v2 as it ships. Lengths are spread evenly over their orders of magnitude, from
a word to 160, so that every size of batch comes up and most requests are as short as they are in
use. Hardly two texts are alike.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path

from benchmarks.arguments import whole_number
from benchmarks.servers.client import closed_loop, measure
from benchmarks.servers.models import WORK, prepare_models
from benchmarks.servers.peers import ours
from benchmarks.servers.processes import running
from benchmarks.servers.texts import LONGEST, texts_of_lengths
from benchmarks.serving import machine

PARTS = 10


def main() -> None:
    """Load the server and print its resident memory after each tenth."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=Path, default=WORK / "models")
    parser.add_argument("--requests", type=whole_number, default=100_000)
    parser.add_argument("--clients", type=whole_number, default=64)
    parser.add_argument("flags", nargs="*", help="of `interlingua serve`, after --")
    options = parser.parse_args()
    models = options.models.resolve()
    prepare_models(models)
    peer = ours("interlingua", *options.flags)
    chance = random.Random(3)
    each = max(options.clients, options.requests // PARTS)
    with running(peer, environments=Path(), models=models) as server:
        print(f"machine: {machine()}; {options.clients} clients, {' '.join(options.flags)}")
        print(f"{'requests':>9} {'a second':>9} {'p50 ms':>7} {'p99 ms':>7} {'resident MB':>12}")
        print(f"{0:9,} {'':9} {'':7} {'':7} {server.resident_mb():12.0f}")
        for part in range(1, PARTS + 1):
            lengths = [round(LONGEST ** chance.random()) for _ in range(each)]
            requests = [peer.request([text]) for text in texts_of_lengths(lengths, seed=part)]
            load = measure(closed_loop(server.port, requests, clients=options.clients))
            if load.failed:
                raise SystemExit(f"{load.failed} of {each} requests failed.")
            print(
                f"{part * each:9,} {load.per_second:9,.0f} {load.percentile(50):7.0f} "
                f"{load.percentile(99):7.0f} {server.resident_mb():12.0f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
