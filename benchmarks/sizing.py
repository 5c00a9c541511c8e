"""Requests a second that one core answers, by kind of request: what capacity is planned with.

    python -m benchmarks.sizing [--model DIR] [--seconds 5] [--repeats 5] [--connections 16]

The server has one core and the clients another, so at least two are needed. Connections are kept
and each sends its next request when the last is answered: the figures are those of a core that is
never idle. Each kind is asked for a while before it is measured. Rates are medians of the repeats,
with the lowest and the highest; p50 and p99 are of the requests of all repeats.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import time
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import uvloop

from benchmarks.arguments import above_zero, existing_folder, whole_number
from benchmarks.models import FAST
from benchmarks.serving import demo_texts, machine, resident_mb, running_server

MANY = 64
"""Sentences of a large request."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of request: bytes that are sent in turn, and the sentences in each."""

    name: str
    requests: list[bytes]
    sentences: int = 1


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=existing_folder, default=FAST)
    parser.add_argument("--seconds", type=above_zero, default=5.0, help="of each measurement")
    parser.add_argument("--repeats", type=whole_number, default=5)
    parser.add_argument("--connections", type=whole_number, default=16)
    options = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        raise SystemExit("two cores are needed: one for the server, one for its clients")
    print(f"machine: {machine()}; the server has one core")
    os.sched_setaffinity(0, cores[:1])  # the server inherits it
    with running_server(options.model) as (port, pid, _):
        os.sched_setaffinity(0, cores[1:])
        print(f"{'':34} requests/s  (min .. max)        sentences/s   p50 ms   p99 ms")
        for kind in kinds():
            run(load(port, kind.requests, options.seconds / 5, options.connections))  # warms up
            runs = [
                run(load(port, kind.requests, options.seconds, options.connections))
                for _ in range(options.repeats)
            ]
            report(kind, runs)
        print(f"resident memory after it all: {resident_mb(pid):.0f} MB")


def run(measurement: Coroutine[Any, Any, tuple[float, list[float]]]) -> tuple[float, list[float]]:
    """Return what `measurement` returns, run on a fast loop."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(measurement)


def report(kind: Kind, runs: list[tuple[float, list[float]]]) -> None:
    """Print the medians of `runs`, each requests a second and the seconds of each request."""
    rates = sorted(rate for rate, _ in runs)
    middle = statistics.median(rates)
    taken = sorted(seconds for _, times in runs for seconds in times)
    p50, p99 = (1000 * taken[int(len(taken) * share)] for share in (0.5, 0.99))
    spread = f"({rates[0]:,.0f} .. {rates[-1]:,.0f})"
    print(
        f"{kind.name:34} {middle:10,.0f}  {spread:18} {middle * kind.sentences:12,.0f} "
        f"{p50:8.1f} {p99:8.1f}",
        flush=True,
    )


def kinds() -> list[Kind]:
    """Return the kinds of requests, made of the demo corpus."""
    texts = demo_texts()
    chunks = [texts[at : at + MANY] for at in range(0, len(texts) - MANY, MANY)]
    return [
        Kind("/embed, one sentence", [post("/embed", {"inputs": text}) for text in texts]),
        Kind(
            f"/embed, {MANY} sentences",
            [post("/embed", {"inputs": chunk}) for chunk in chunks],
            sentences=MANY,
        ),
        Kind(
            f"/v1/embeddings, {MANY}, base64",
            [
                post("/v1/embeddings", {"input": c, "model": "any", "encoding_format": "base64"})
                for c in chunks
            ],
            sentences=MANY,
        ),
        Kind(
            "/similar, one of 3,000, k 10",
            [get(f"/similar?corpus=demo&k=10&q={quote(text)}") for text in texts],
        ),
        Kind("/classify, one sentence", [post("/classify", {"inputs": text}) for text in texts]),
    ]


def post(path: str, body: object) -> bytes:
    """Return a request as it goes over the wire."""
    content = json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
    return f"{head}content-length: {len(content)}\r\n\r\n".encode() + content


def get(path: str) -> bytes:
    """Return a request without a body."""
    return f"GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n".encode()


async def load(
    port: int, requests: list[bytes], seconds: float, connections: int
) -> tuple[float, list[float]]:
    """Return requests a second and the seconds that each took."""
    taken: list[float] = []
    began = time.perf_counter()

    async def client(number: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        turn = number
        while (sent := time.perf_counter()) < began + seconds:
            writer.write(requests[turn % len(requests)])
            await answer(reader)
            taken.append(time.perf_counter() - sent)
            turn += connections
        writer.close()

    await asyncio.gather(*(client(number) for number in range(connections)))
    return len(taken) / (time.perf_counter() - began), taken


async def answer(reader: asyncio.StreamReader) -> bytes:
    """Read one answer; anything but 200 ends the benchmark."""
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    length = int(head.split(b"content-length:")[1].split(b"\r\n")[0])
    body = await reader.readexactly(length)
    if b" 200 " not in head.split(b"\r\n")[0]:
        raise SystemExit(f"answered {head.decode()}{body[:500].decode()}")
    return body


if __name__ == "__main__":
    main()
