"""The client that loads every server alike: keep-alive connections, closed or open loop.

A closed loop sends when an answer came, so it never shows what waits; an open loop sends when it is
time, and counts from then.

It shares the machine with the servers, so what it costs is taken from each of them, and from the
fastest the most often: answers are parsed by httptools on uvloop.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from itertools import count
from typing import cast

import httptools
import numpy as np
import uvloop


@dataclass(frozen=True, slots=True)
class Load:
    """What a server did.

    Attributes:
        per_second: Requests answered with 200 a second.
        milliseconds: Of each of these answers; a refusal is quick, and would make the rest look so.
        failed: Other answers, and connections that broke.
    """

    per_second: float
    milliseconds: Sequence[float]
    failed: int

    def percentile(self, percent: float) -> float:
        """Return the milliseconds that `percent` of the answers took at most."""
        return float(np.percentile(self.milliseconds, percent)) if self.milliseconds else 0.0


class _Connection(asyncio.Protocol):
    def __init__(self, port: int) -> None:
        self._port = port
        self._transport: asyncio.Transport | None = None
        self._parser: httptools.HttpResponseParser
        self._answered: asyncio.Future[bool]

    async def ask(self, request: bytes) -> bool:
        """Return whether the answer was 200; a connection that breaks is opened anew the next time.

        Raises:
            ValueError: What came is no HTTP answer.
        """
        loop = asyncio.get_running_loop()
        self._answered = loop.create_future()
        if self._transport is None:
            self._parser = httptools.HttpResponseParser(self)
            try:
                await loop.create_connection(lambda: self, "127.0.0.1", self._port)
            except OSError:
                return False
        assert self._transport is not None, "a connection that was made has a transport"
        self._transport.write(request)
        return await self._answered

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's are of no such class

    def data_received(self, data: bytes) -> None:
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as error:
            self._answered.set_exception(ValueError(f"no HTTP answer: {error}"))
            self.close()

    def on_message_complete(self) -> None:
        if not self._parser.should_keep_alive():
            self.close()
        self._answered.set_result(self._parser.get_status_code() == 200)

    def connection_lost(self, _: Exception | None) -> None:
        self._transport = None
        if not self._answered.done():
            self._answered.set_result(False)

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()
            self._transport = None


class _Told(_Connection):
    """Keeps what the answers say of where their time went, with how long they took for us."""

    def __init__(self, port: int, told: list[tuple[float, str]]) -> None:
        super().__init__(port)
        self._told = told
        self._sent = 0.0

    async def ask(self, request: bytes) -> bool:
        self._sent = time.perf_counter()
        return await super().ask(request)

    def on_header(self, name: bytes, value: bytes) -> None:
        if name == b"server-timing":
            self._told.append((1000 * (time.perf_counter() - self._sent), value.decode()))


def measure(loop: Coroutine[object, object, Load]) -> Load:
    """Return what a loop measured, run on the quickest event loop there is."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(loop)


async def closed_loop(
    port: int,
    requests: Sequence[bytes],
    *,
    clients: int,
    seconds: float | None = None,
    told: list[tuple[float, str]] | None = None,
) -> Load:
    """Have `clients` each send one request after the other, for so long or until each was sent.

    Args:
        port: Of the server, on this machine.
        requests: Whole, as they go over the wire.
        clients: At a time.
        seconds: How long; None sends each request once.
        told: Gets the milliseconds until the headers of each answer came, and `server-timing`.
    """
    turn, failed = count(), 0
    times: list[float] = []
    began = time.perf_counter()

    async def client() -> None:
        nonlocal failed
        connection = _Connection(port) if told is None else _Told(port, told)
        for number in turn:
            if seconds is None and number >= len(requests):
                break
            start = time.perf_counter()
            answered = await connection.ask(requests[number % len(requests)])
            end = time.perf_counter()
            if answered:
                times.append(1000 * (end - start))
            else:
                failed += 1
            if seconds is not None and end - began >= seconds:
                break
        connection.close()

    await asyncio.gather(*(client() for _ in range(clients)))
    return Load(len(times) / (time.perf_counter() - began), times, failed)


async def open_loop(port: int, requests: Sequence[bytes], *, rate: float, seconds: float) -> Load:
    """Send `rate` requests a second at random times, whatever has been answered."""
    chance, idle, tasks = random.Random(7), list[_Connection](), []
    times: list[float] = []
    failed = 0

    async def one(request: bytes, due: float) -> None:
        nonlocal failed
        connection = idle.pop() if idle else _Connection(port)
        began = min(due, time.perf_counter())  # uvloop's timers may end a millisecond early
        if await connection.ask(request):
            times.append(1000 * (time.perf_counter() - began))
        else:
            failed += 1
        idle.append(connection)

    began = due = time.perf_counter()
    for number in count():
        due += chance.expovariate(rate)
        if due - began > seconds:
            break
        if (wait := due - time.perf_counter()) > 0:
            await asyncio.sleep(wait)
        tasks.append(asyncio.create_task(one(requests[number % len(requests)], due)))
    await asyncio.gather(*tasks)
    load = Load(len(times) / (time.perf_counter() - began), times, failed)
    for connection in idle:
        connection.close()
    return load
