"""What the servers are asked, and what is measured of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.servers.client import Load, closed_loop, measure, open_loop
from benchmarks.servers.processes import Running
from benchmarks.servers.texts import mixed_texts, short_texts

BULK = 64
_REQUESTS = 4000  # of one text; hardly one comes twice in a measurement
_BULK_REQUESTS = 60


@dataclass(frozen=True, slots=True)
class Workload:
    """One way to ask.

    Attributes:
        name: As it is chosen and printed.
        texts: In one request.
        run: Asks a server for so many seconds.
    """

    name: str
    texts: int
    run: Callable[[Running, float], Load]


def _single(clients: int, *, mixed: bool = False) -> Workload:
    def run(server: Running, seconds: float) -> Load:
        texts = (mixed_texts if mixed else short_texts)(_REQUESTS)
        requests = [server.peer.request([text]) for text in texts]
        return measure(closed_loop(server.port, requests, clients=clients, seconds=seconds))

    return Workload(f"{'mixed' if mixed else 'short'}-{clients}", 1, run)


def _bulk(
    name: str, *, accept: str = "application/json", mixed: bool = True, clients: int = 2
) -> Workload:
    def run(server: Running, seconds: float) -> Load:
        texts = (mixed_texts if mixed else short_texts)(BULK * _BULK_REQUESTS)
        parts = [texts[start : start + BULK] for start in range(0, len(texts), BULK)]
        requests = [server.peer.request(part, accept=accept) for part in parts]
        return measure(closed_loop(server.port, requests, clients=clients, seconds=seconds))

    return Workload(name, BULK, run)


WORKLOADS: tuple[Workload, ...] = (
    _single(1),
    _single(8),
    _single(64),
    _single(256),
    _single(64, mixed=True),
    _bulk("bulk-mixed"),
    _bulk("bulk-short", mixed=False),
    _bulk("bulk-mixed-4", clients=4),
    _bulk("bulk-short-4", mixed=False, clients=4),
    _bulk("bulk-mixed-bytes", accept="application/octet-stream"),
    _bulk("bulk-short-bytes", accept="application/octet-stream", mixed=False),
)


def open_at(server: Running, *, rate: float, seconds: float) -> Load:
    """Send single short texts at `rate` requests a second."""
    requests = [server.peer.request([text]) for text in short_texts(_REQUESTS)]
    return measure(open_loop(server.port, requests, rate=rate, seconds=seconds))
