"""Ten times what the server can do, for two minutes, and a client with a trickle beside it.

    python -m benchmarks.overload [--seconds 120] [--times 10] [--model DIR --texts 32]

The server and the load share the machine, as everywhere in these benchmarks. Both have a key of
their own; the flood does not wait between refusals, as a broken client would not.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from pathlib import Path

from benchmarks.arguments import above_zero, existing_folder, whole_number
from benchmarks.drills.fleet import free_port
from benchmarks.overload.load_kinds import flood_requests, trickle_requests
from benchmarks.overload.offered import capacity, offer
from benchmarks.overload.served import Served
from benchmarks.serving import machine

TRICKLE_RATE = 10.0


async def measure(served: Served, *, texts: int, seconds: float, times: float) -> None:
    """Print what the server does at each load."""
    flood, trickle = flood_requests("flood", texts=texts), trickle_requests("trickle")
    most = await capacity(served.port, flood, max(5.0, seconds / 8))
    print(f"capacity: {most:.1f} requests of {texts} sentences a second", flush=True)
    alone = await offer(served.port, trickle, rate=TRICKLE_RATE, seconds=seconds / 4)
    print(
        f"trickle alone, {TRICKLE_RATE:g} a second of one sentence: {alone.summary()}", flush=True
    )
    at_80 = await offer(served.port, flood, rate=0.8 * most, seconds=seconds / 2)
    print(f"80 % of capacity: {at_80.summary()}", flush=True)
    before = served.resident_mib()
    with served.watched_memory() as memory:
        over, beside = await asyncio.gather(
            offer(served.port, flood, rate=times * most, seconds=seconds),
            offer(served.port, trickle, rate=TRICKLE_RATE, seconds=seconds, seed=1),
        )
    print(f"{times:g} x capacity: {over.summary()}")
    print(f"refusals: p99 {1000 * over.quantile(0.99, 429):.1f} ms" if over.count(429) else
          "refusals: none")  # fmt: skip
    print(f"trickle beside it: {beside.summary()}")
    goodput = over.count(200) / over.took / most
    print(f"goodput: {100 * goodput:.0f} % of capacity")
    print(f"p99 of accepted: {over.quantile(0.99) / at_80.quantile(0.99):.2f} x that at 80 %")
    print(f"p99 of the trickle: {beside.quantile(0.99) / alone.quantile(0.99):.2f} x that alone")
    print(f"resident memory: {before:.0f} MiB before, {max(memory):.0f} MiB at most, "
          f"{served.resident_mib():.0f} MiB after")  # fmt: skip


def main() -> None:
    """Start a server, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=above_zero, default=120.0, help="of the overload")
    parser.add_argument("--times", type=above_zero, default=10.0, help="capacity that is offered")
    parser.add_argument(
        "--model", type=existing_folder, help="a bundle; interlingua-fast by default"
    )
    parser.add_argument("--texts", type=whole_number, default=256, help="of a request of the flood")
    options = parser.parse_args()
    settings = {"model": str(options.model)} if options.model else {}
    print(f"machine: {machine()}")
    with (
        tempfile.TemporaryDirectory() as home,
        Served(Path(home), free_port(), keys=("flood", "trickle"), **settings) as served,
    ):
        asyncio.run(
            measure(served, texts=options.texts, seconds=options.seconds, times=options.times)
        )


if __name__ == "__main__":
    main()
