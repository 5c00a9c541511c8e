"""Mixed traffic at 80 % of capacity with a burst of ten times that each minute, for a set time.

    python -m benchmarks.soak --minutes 30

Requests are embeddings, searches, labels, and writes of a thousand documents that are replaced over
and over. Each minute a line says what the server holds and how long its answers took. Drift is the
median of the last quarter's memory against that of the second: in the first, caches fill.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks.arguments import whole_number
from benchmarks.drills.fleet import ask, free_port
from benchmarks.overload.load_kinds import mixed_requests
from benchmarks.overload.offered import Generator, Outcomes, capacity
from benchmarks.overload.served import Served
from benchmarks.serving import machine

BURST_SECONDS = 5.0
MINUTE = 60.0
ACCEPTABLE = (200, 429)


@dataclass(frozen=True, slots=True)
class Sample:
    """One minute: its steady part, its burst, and what the server held at its end."""

    steady: Outcomes
    burst: Outcomes
    resident_mib: float
    handles: int
    threads: int


async def minute(served: Served, requests: list[bytes], rate: float, seconds: float) -> Sample:
    """Offer one minute's traffic: steady, then a burst."""
    generator = Generator(served.port)
    steady = await generator.offer(requests, rate=0.8 * rate, seconds=seconds - BURST_SECONDS)
    burst = await generator.offer(requests, rate=10 * rate, seconds=BURST_SECONDS)
    generator.close()
    await asyncio.sleep(0.5)
    return Sample(steady, burst, served.resident_mib(), served.handles(), served.threads())


async def soak(served: Served, *, minutes: int) -> list[Sample]:
    """Return a sample a minute, printed as they come."""
    requests = mixed_requests()
    rate = await capacity(served.port, requests, 5.0)
    print(f"capacity: {rate:.0f} mixed requests a second")
    print("minute  MiB     handles threads  steady p50, p99 ms   burst: answered, refused, p99 ms")
    samples = []
    for number in range(1, minutes + 1):
        one = await minute(served, requests, rate, MINUTE)
        samples.append(one)
        wrong = {s for outcome in (one.steady, one.burst) for s in outcome.seconds}
        print(
            f"{number:6}  {one.resident_mib:6.1f}  {one.handles:7} {one.threads:7}  "
            f"{1000 * one.steady.quantile(0.5):6.1f} {1000 * one.steady.quantile(0.99):8.1f}"
            f"        {one.burst.count(200):8} {one.burst.count(429):8} "
            f"{1000 * one.burst.quantile(0.99):8.1f}"
            + (f"  other answers: {wrong - set(ACCEPTABLE)}" if wrong - set(ACCEPTABLE) else ""),
            flush=True,
        )
    return samples


def report(samples: list[Sample]) -> None:
    """Print what changed between the second quarter and the last."""
    quarter = max(1, len(samples) // 4)
    early, late = samples[quarter : 2 * quarter] or samples, samples[-quarter:]

    def change(name: str) -> str:
        first = statistics.median(getattr(sample, name) for sample in early)
        last = statistics.median(getattr(sample, name) for sample in late)
        return f"{first:.1f} -> {last:.1f} ({100 * (last / first - 1):+.1f} %)"

    print(f"resident MiB: {change('resident_mib')}")
    print(f"handles: {change('handles')}; threads: {change('threads')}")
    p99 = [statistics.median(s.steady.quantile(0.99) for s in part) for part in (early, late)]
    print(f"steady p99: {1000 * p99[0]:.1f} -> {1000 * p99[1]:.1f} ms")


def main() -> None:
    """Start a server, load it, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=whole_number, default=30)
    options = parser.parse_args()
    print(f"machine: {machine()}")
    with tempfile.TemporaryDirectory() as home, Served(Path(home), free_port()) as served:
        made, said = ask(served.port, "/corpora/soak", method="PUT", body=json.dumps({}))
        if made != 201:
            raise SystemExit(said)
        report(asyncio.run(soak(served, minutes=options.minutes)))


if __name__ == "__main__":
    main()
