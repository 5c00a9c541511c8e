"""Search at 100,000 and 1,000,000 encodings: the store, bare FAISS, and the peers.

    python -m benchmarks.search.run --work DIR [--texts FILE] [--rows 100000 1000000]
        [--peers PEERS/bin/python] [--seconds 3]

One thread searches. The peers are measured at the first size: their graphs take tens of minutes to
build at the second on two cores. Every figure of one size is of the same vectors in one run.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from benchmarks.arguments import above_zero, existing_file, whole_number
from benchmarks.search.ours import measure_bare_faiss, measure_store, ratios
from benchmarks.search.vectors import encodings, exact_threshold
from benchmarks.serving import machine

PEERS = ("hnswlib", "usearch", "milvus-lite")


def main() -> None:
    """Measure and print; DIR/figures.json holds it all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, required=True, help="folder for vectors and stores")
    parser.add_argument(
        "--texts", type=existing_file, help="a text a line; the demo corpus if left out"
    )
    parser.add_argument("--rows", type=whole_number, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--peers", type=existing_file, help="python of the peers' environment")
    parser.add_argument("--seconds", type=above_zero, default=3.0, help="of each measurement")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    print(f"machine: {machine()}", flush=True)
    figures = {
        str(rows): measure(options, rows, with_peers=rows == options.rows[0])
        for rows in options.rows
    }
    (options.work / "figures.json").write_text(json.dumps(figures, indent=1))


def measure(
    options: argparse.Namespace, rows: int, *, with_peers: bool
) -> dict[str, Mapping[str, float]]:
    """Measure one size, printing as figures come."""
    largest = max(options.rows)
    vectors, queries, word = encodings(options.texts, largest, options.work)
    vectors = vectors[:rows]
    print(f"\n{rows:,} vectors: {word}", flush=True)
    threshold = exact_threshold(vectors, queries)
    ours = measure_store(
        options.work / f"store-{rows}", vectors, queries, threshold, seconds=options.seconds
    )
    show("interlingua", ours)
    found: dict[str, Mapping[str, float]] = {"interlingua": ours}
    # The store ranks the last by stored vectors, so that it finds more in the same clusters.
    for name, at_least in (("the same clusters", 0.0), ("the same recall", ours["recall@10"])):
        bare = measure_bare_faiss(
            options.work / f"store-{rows}",
            vectors,
            queries,
            threshold,
            seconds=options.seconds,
            at_least=at_least,
        )
        found |= {f"faiss, {name}": bare, f"interlingua / faiss, {name}": ratios(ours, bare)}
    for name in list(found)[1:]:
        show(name, found[name])
    if with_peers and options.peers:
        for name, part in zip(
            ("vectors", "queries", "threshold"), (vectors, queries, threshold), strict=True
        ):
            np.save(options.work / f"{name}.npy", part)
        for name in PEERS:
            found[name] = peer(options, name)
            show(name, found[name])
    return found


def peer(options: argparse.Namespace, name: str) -> dict[str, float]:
    """Run one peer in its environment."""
    script = Path(__file__).with_name("peers.py")
    command = [options.peers, script, name, options.work, str(options.seconds)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        print(done.stderr[-2000:], file=sys.stderr)
        return {}
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures


def show(name: str, figures: Mapping[str, float]) -> None:
    """Print one block."""
    print(f"  {name}", flush=True)
    for what, figure in figures.items():
        print(f"    {what:28} {figure:,.3f}", flush=True)


if __name__ == "__main__":
    main()
