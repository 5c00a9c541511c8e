"""Queries a second, latency, recall, memory: the same way for everybody measured."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from service.inference.session import Vectors

BATCH = 32


def queries_a_second(
    search: Callable[[Vectors], object], queries: Vectors, *, at_once: int, seconds: float
) -> float:
    """Ask `at_once` queries a call, one thread, for about `seconds`."""
    search(queries[:at_once])
    began, done = time.perf_counter(), 0
    while time.perf_counter() - began < seconds:
        at = done % (len(queries) - at_once + 1)
        search(queries[at : at + at_once])
        done += at_once
    return done / (time.perf_counter() - began)


def latencies_ms(
    search: Callable[[Vectors], object], queries: Vectors, *, seconds: float
) -> tuple[float, float, float]:
    """Return p50, p95 and p99 of single queries."""
    search(queries[:1])
    took: list[float] = []
    began = time.perf_counter()
    while time.perf_counter() - began < seconds:
        at = len(took) % len(queries)
        start = time.perf_counter()
        search(queries[at : at + 1])
        took.append(1000 * (time.perf_counter() - start))
    p50, p95, p99 = np.percentile(took, [50, 95, 99]).tolist()
    return p50, p95, p99


def recall(
    rows: Sequence[Sequence[int]], vectors: Vectors, queries: Vectors, threshold: Vectors
) -> float:
    """Return the share of found rows as near as the tenth nearest; a tie is as good."""
    found = [
        np.count_nonzero(vectors[list(row)] @ query >= least - 1e-6)
        for row, query, least in zip(rows, queries, threshold, strict=True)
    ]
    return float(np.minimum(found, 10).mean()) / 10


def resident_mib() -> float:
    """Return the process' memory that no file backs, in MiB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) / 1024
    return 0.0
