"""Where a text's processor time goes: to the thread that answers, or to those that compute.

    python -m benchmarks.servers.where_time_goes [--models DIR] [--checkout DIR]

The shipped way to serve all-MiniLM-L6-v2 is loaded with single short texts from one client and from
64, and with 64 a request. With --checkout another version of the source is measured in turn with
this one, so that the machine's moods fall on both. Reads /proc, so it runs on Linux alone.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from benchmarks.arguments import above_zero, whole_number
from benchmarks.servers.models import WORK, prepare_models
from benchmarks.servers.peers import Peer
from benchmarks.servers.processes import Running, running
from benchmarks.servers.versions import checkout, in_turn
from benchmarks.servers.workloads import WORKLOADS, Workload
from benchmarks.serving import machine

CHOSEN = ("short-1", "short-64", "bulk-short")
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Cost:
    """What one text took.

    Attributes:
        per_second: Texts answered a second.
        answering: Milliseconds of the thread that reads, answers and writes.
        computing: Milliseconds of all other threads of the process.
        batch: Texts in a batch on average.
        p50: Milliseconds of a request in the median.
        p99: The same of all but the slowest hundredth.
    """

    per_second: float
    answering: float
    computing: float
    batch: float
    p50: float
    p99: float


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=Path, default=WORK / "models")
    parser.add_argument("--checkout", type=checkout, help="another version of the source")
    parser.add_argument("--seconds", type=above_zero, default=4.0, help="of each measurement")
    parser.add_argument("--repeats", type=whole_number, default=3)
    options = parser.parse_args()
    models = options.models.resolve()
    prepare_models(models)
    found = in_turn(
        options.checkout,
        lambda peer: _costs(peer, models, options.seconds),
        names=("other", "this"),
        repeats=options.repeats,
    )
    print(f"machine: {machine()}; medians of {options.repeats}\n")
    print("load        version  texts/s  answering  computing  texts a batch   p50 ms   p99 ms")
    for (name, version), costs in sorted(found.items()):
        middle = [
            statistics.median(getattr(cost, field) for cost in costs) for field in Cost.__slots__
        ]
        print(
            f"{name:11} {version:7} {middle[0]:8,.0f} {middle[1]:7.2f} ms {middle[2]:7.2f} ms"
            f" {middle[3]:14.1f} {middle[4]:8.1f} {middle[5]:8.1f}"
        )


def _costs(peer: Peer, models: Path, seconds: float) -> dict[str, Cost]:
    with running(peer, environments=Path(), models=models) as server:
        return {
            workload.name: _cost(server, workload, seconds)
            for workload in WORKLOADS
            if workload.name in CHOSEN
        }


def _cost(server: Running, workload: Workload, seconds: float) -> Cost:
    workload.run(server, seconds / 4)
    answering, whole = _processor_seconds(server.pid)
    batches, batched = _batches(server.port)
    load = workload.run(server, seconds)
    answering_then, whole_then = _processor_seconds(server.pid)
    batches_then, batched_then = _batches(server.port)
    texts = len(load.milliseconds) * workload.texts
    own = answering_then - answering
    return Cost(
        per_second=load.per_second * workload.texts,
        answering=1000 * own / texts,
        computing=1000 * (whole_then - whole - own) / texts,
        batch=(batched_then - batched) / max(1, batches_then - batches),
        p50=load.percentile(50),
        p99=load.percentile(99),
    )


def _processor_seconds(pid: int) -> tuple[float, float]:
    """Return the seconds of the process's first thread, and of all."""
    return _seconds(f"/proc/{pid}/task/{pid}/stat"), _seconds(f"/proc/{pid}/stat")


def _seconds(stat: str) -> float:
    fields = Path(stat).read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS  # user and system: proc(5), fields 14, 15


def _batches(port: int) -> tuple[float, float]:
    """Return how many batches were computed, and how many texts were in them."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as answer:
        page = answer.read().decode()
    count, total = (
        float(found[1])
        for kind in ("count", "sum")
        if (found := re.search(rf"^interlingua_batch_size_{kind} (\S+)$", page, re.MULTILINE))
    )
    return count, total


if __name__ == "__main__":
    main()
