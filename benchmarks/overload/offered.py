"""Requests offered at a rate, whatever becomes of them: an open loop over raw connections.

A client that waits for its answers slows down with the server, and so never offers more than that
takes. Here the moment of each request is drawn beforehand (Poisson), and its time is counted from
then: connecting, and a generator that is late, are waits of its client too. Parsing is the least
that tells status and end of an answer, so that the generator costs little of the machine it shares.
"""

from __future__ import annotations

import asyncio
import random
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

_HEAD_END = b"\r\n\r\n"
_LENGTH = re.compile(rb"(?i)\r\ncontent-length: (\d+)")

WARM_UP_SECONDS = 3.0
PATIENCE_SECONDS = 30.0
"""After the last request: what has no answer by then is counted as without one."""
MOST_CONNECTIONS = 900
"""Below the usual limit of 1,024 handles a process."""


def raw_request(
    method: str, path: str, body: bytes = b"", *, key: str = "", accept: str = "*/*"
) -> bytes:
    """Return the bytes of one request over a connection that is kept."""
    lines = [f"{method} {path} HTTP/1.1", "host: localhost", f"accept: {accept}"]
    if body:
        lines += ["content-type: application/json", f"content-length: {len(body)}"]
    if key:
        lines.append(f"authorization: Bearer {key}")
    return "\r\n".join([*lines, "", ""]).encode() + body


@dataclass(slots=True)
class Outcomes:
    """What became of the requests.

    Attributes:
        seconds: Of each answer, by status; 0 is a broken connection.
        first: Set when there is an answer.
        took: Seconds from the first request to the last answer.
        unsent: Requests for which no connection was free: the generator's own limit.
        unanswered: Requests that still waited when the generator gave up.
    """

    seconds: dict[int, list[float]] = field(default_factory=dict)
    unsent: int = 0
    unanswered: int = 0
    took: float = 0.0
    first: asyncio.Event = field(default_factory=asyncio.Event)

    def add(self, status: int, seconds: float) -> None:
        """Take one answer."""
        self.seconds.setdefault(status, []).append(seconds)
        self.first.set()

    def count(self, status: int) -> int:
        """Return how many had this status."""
        return len(self.seconds.get(status, ()))

    @property
    def total(self) -> int:
        """All that were sent."""
        return sum(map(len, self.seconds.values()))

    def quantile(self, part: float, status: int = 200) -> float:
        """Return the time in seconds that `part` of the answers of a status took at most."""
        taken = sorted(self.seconds.get(status, ())) or [float("nan")]
        return taken[min(len(taken) - 1, int(len(taken) * part))]

    def summary(self) -> str:
        """Return the statuses, and how long those answered with 200 took."""
        counts = ", ".join(f"{len(taken)} x {s}" for s, taken in sorted(self.seconds.items()))
        times = ", ".join(f"p{p:g} {1000 * self.quantile(p / 100):.1f} ms" for p in (50, 99))
        unsent = f", {self.unsent} not sent" if self.unsent else ""
        unanswered = f", {self.unanswered} not answered" if self.unanswered else ""
        return f"{counts or 'none'}{unsent}{unanswered}; {times}"


class _Connection(asyncio.Protocol):
    def __init__(self, free: Callable[[_Connection], None], outcomes: Outcomes) -> None:
        self._free = free
        self._outcomes = outcomes
        self._transport: asyncio.Transport | None = None
        self._began = 0.0
        self._head = b""
        self._left = -1
        self._status = 0
        self.open = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self.open = True

    def ask(self, request: bytes, outcomes: Outcomes, due: float) -> None:
        assert self._transport is not None
        self._outcomes = outcomes
        self._began = due
        self._head, self._left, self._status = b"", -1, 0
        self._transport.write(request)

    def data_received(self, data: bytes) -> None:
        if self._left < 0:
            self._head += data
            end = self._head.find(_HEAD_END)
            if end < 0:
                return
            head = self._head[: end + 2]
            self._status = int(head[9:12])
            found = _LENGTH.search(head)
            self._left = int(found[1]) if found else 0
            data = self._head[end + 4 :]
        self._left -= len(data)
        if self._left <= 0:
            self._done(self._status)

    def close(self) -> None:
        self._began = 0.0
        if self._transport is not None:
            self._transport.close()

    def connection_lost(self, _: Exception | None) -> None:
        self.open = False
        if self._began:
            self._done(0)

    def _done(self, status: int) -> None:
        self._outcomes.add(status, time.perf_counter() - self._began)
        self._began = 0.0
        self._free(self)


class Generator:
    """Connections to one server, taken by whatever is to be sent.

    Args:
        port: Of the server, on this machine.
        seed: Of the moments that are drawn.
    """

    def __init__(self, port: int, *, seed: int = 0) -> None:
        self._port = port
        self._random = random.Random(seed)
        self._idle: list[_Connection] = []
        self._connected: list[_Connection] = []
        self._made = 0

    async def offer(self, requests: Sequence[bytes], *, rate: float, seconds: float) -> Outcomes:
        """Send `requests` in turn, `rate` a second on average; return when all are answered."""
        outcomes = Outcomes()
        began = moment = time.perf_counter()
        turn = 0
        asking: set[asyncio.Task[None]] = set()
        while True:
            moment += self._random.expovariate(rate)
            if moment > began + seconds:
                break
            wait = moment - time.perf_counter()
            if wait > 0:
                await asyncio.sleep(wait)
            elif turn % 50 == 0:
                await asyncio.sleep(0)
            request = requests[turn % len(requests)]
            turn += 1
            connection = self._take()
            if connection is not None:
                connection.ask(request, outcomes, moment)
            elif self._made < MOST_CONNECTIONS:
                self._made += 1
                task = asyncio.create_task(self._connect_and_ask(request, outcomes, moment))
                asking.add(task)
                task.add_done_callback(asking.discard)
            else:
                outcomes.unsent += 1
        patience = time.perf_counter() + PATIENCE_SECONDS
        while outcomes.total < turn - outcomes.unsent and time.perf_counter() < patience:
            await asyncio.sleep(0.01)
        outcomes.unanswered = turn - outcomes.unsent - outcomes.total
        outcomes.took = time.perf_counter() - began
        return outcomes

    async def ask_one(self, requests: Sequence[bytes]) -> Outcomes:
        """Send one of `requests`, drawn at random, and wait for its answer."""
        outcomes = Outcomes()
        request = self._random.choice(requests)
        connection = self._take()
        now = time.perf_counter()
        if connection is None:
            await self._connect_and_ask(request, outcomes, now)
        else:
            connection.ask(request, outcomes, now)
        await outcomes.first.wait()
        return outcomes

    def _take(self) -> _Connection | None:
        while self._idle:
            connection = self._idle.pop()
            if connection.open:
                return connection
            self._made -= 1
        return None

    async def _connect_and_ask(self, request: bytes, outcomes: Outcomes, due: float) -> None:
        loop = asyncio.get_running_loop()
        try:
            _, connection = await loop.create_connection(
                lambda: _Connection(self._idle.append, outcomes), "127.0.0.1", self._port
            )
        except OSError:
            self._made -= 1
            outcomes.add(0, time.perf_counter() - due)
            return
        self._connected.append(connection)
        connection.ask(request, outcomes, due)

    def close(self) -> None:
        """Close all connections; what has no answer yet gets none."""
        while self._connected:
            self._connected.pop().close()
        self._idle.clear()


async def offer(
    port: int, requests: Sequence[bytes], *, rate: float, seconds: float, seed: int = 0
) -> Outcomes:
    """Offer by a generator of its own: its connections, hundreds, take no handles of the next."""
    generator = Generator(port, seed=seed)
    try:
        return await generator.offer(requests, rate=rate, seconds=seconds)
    finally:
        generator.close()


async def capacity(
    port: int, requests: Sequence[bytes], seconds: float, *, clients: int = 4
) -> float:
    """Return the answers a second to clients that each wait for theirs before they ask again.

    What is under way at either end is not counted with what was answered in between.
    """
    answered = 0
    began = time.perf_counter() + WARM_UP_SECONDS

    async def client(generator: Generator) -> None:
        nonlocal answered
        while time.perf_counter() < began + seconds:
            outcomes = await generator.ask_one(requests)
            if began < time.perf_counter() <= began + seconds:
                answered += outcomes.count(200)
        generator.close()

    await asyncio.gather(*(client(Generator(port, seed=seed)) for seed in range(clients)))
    return answered / seconds
