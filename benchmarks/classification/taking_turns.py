"""Two addresses asked in turns, so that neither has the quieter machine.

The machine is never quite still: what the ratio of two long measurements tells is mostly when each
was taken. So the addresses take turns request by request, a few requests make a round, and the
median over the rounds' ratios is told, with the range that the middle half of them lies in.
"""

from __future__ import annotations

import http.client
import statistics
import time
import urllib.parse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Asked:
    """One way of asking: where, and with which headers."""

    path: str
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Ratio:
    """Time of the first way over that of the second.

    Attributes:
        median: Over the rounds.
        low: Lower quartile.
        high: Upper quartile.
        milliseconds: Median time of a request, of the first and the second.
    """

    median: float
    low: float
    high: float
    milliseconds: tuple[float, float]


def take_turns(
    url: str,
    ways: tuple[Asked, Asked],
    bodies: Sequence[bytes],
    *,
    rounds: int,
    a_round: int = 4,
    warm_up: int = 20,
) -> Ratio:
    """Ask both `ways` with the same `bodies` in turns, and return the ratio of their times.

    Args:
        url: Of a server.
        ways: What is compared.
        bodies: Sent one after the other, each to both.
        rounds: So many ratios.
        a_round: Requests to each in a round.
        warm_up: Requests to each before the first round.
    """
    server = urllib.parse.urlsplit(url).netloc
    connections = [http.client.HTTPConnection(server) for _ in ways]
    spent: list[list[float]] = [[], []]
    for number in range(warm_up + rounds * a_round):
        body = bodies[number % len(bodies)]
        # Who goes first changes: the second finds the body's texts in the caches.
        for way in (0, 1) if number % 2 else (1, 0):
            spent[way].append(_seconds(connections[way], ways[way], body))
    for connection in connections:
        connection.close()
    first, second = (times[warm_up:] for times in spent)
    ratios = [
        sum(first[begin : begin + a_round]) / sum(second[begin : begin + a_round])
        for begin in range(0, rounds * a_round, a_round)
    ]
    low, _, high = statistics.quantiles(ratios, n=4)
    return Ratio(
        statistics.median(ratios), low, high,
        (1000 * statistics.median(first), 1000 * statistics.median(second)),
    )  # fmt: skip


def _seconds(connection: http.client.HTTPConnection, way: Asked, body: bytes) -> float:
    began = time.perf_counter()
    connection.request("POST", way.path, body, dict(way.headers))
    response = connection.getresponse()
    answer = response.read()
    if response.status != http.client.OK:
        raise RuntimeError(f"{way.path} answered {response.status}: {answer[:500]!r}")
    return time.perf_counter() - began
