"""The client that loads every server alike: keep-alive connections, closed or open loop.

A closed loop sends when an answer came, so it never shows what waits; an open loop sends when it is
time, and counts from then.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np


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


class _Connection:
    def __init__(self, port: int) -> None:
        self._port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, request: bytes) -> bool:
        """Return whether the answer was 200; a connection that breaks is opened anew the next time.

        Raises:
            ValueError: What came is no HTTP answer.
        """
        try:
            return await self._ask(request)
        except (OSError, asyncio.IncompleteReadError):
            self.close()
            return False

    async def _ask(self, request: bytes) -> bool:
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._port)
        reader, writer = self._streams
        writer.write(request)
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        if b"transfer-encoding: chunked" in head:
            while size := int((await reader.readuntil(b"\r\n")).split(b";")[0], 16):
                await reader.readexactly(size + 2)
            await reader.readexactly(2)
        else:
            start = head.index(b"content-length:") + 15
            await reader.readexactly(int(head[start : head.index(b"\r", start)]))
        if b"connection: close" in head:
            self.close()
        return head.split(b" ", 2)[1] == b"200"

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


async def closed_loop(
    port: int, requests: Sequence[bytes], *, clients: int, seconds: float | None = None
) -> Load:
    """Have `clients` each send one request after the other, for so long or until each was sent."""
    turn, failed = count(), 0
    times: list[float] = []
    began = time.perf_counter()

    async def client() -> None:
        nonlocal failed
        connection = _Connection(port)
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
        if await connection.ask(request):
            times.append(1000 * (time.perf_counter() - due))
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
