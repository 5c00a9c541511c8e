"""Small servers on a real socket, as slow and as unwilling as a test needs them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Answer = Callable[[int], tuple[int, float] | None]
"""Number of the request, from 0 -> status and seconds until it is sent; None breaks it off."""


@contextmanager
def answering(answer: Answer) -> Iterator[int]:
    """Yield the port of a server that does what `answer` says, on a loop of its own."""
    ready = threading.Event()
    ports: list[int] = []
    stop: list[Callable[[], object]] = []

    async def serve() -> None:
        ended = asyncio.Event()
        numbers = iter(range(1_000_000))

        async def client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                while True:
                    head = (await reader.readuntil(b"\r\n\r\n")).lower()
                    if b"content-length: " in head:
                        length = int(head.split(b"content-length: ")[1].split(b"\r\n")[0])
                        await reader.readexactly(length)
                    what = answer(next(numbers))
                    if what is None:
                        break
                    status, seconds = what
                    await asyncio.sleep(seconds)
                    writer.write(b"HTTP/1.1 %d -\r\ncontent-length: 2\r\n\r\n{}" % status)
            except (OSError, asyncio.IncompleteReadError):
                pass
            finally:
                writer.close()

        server = await asyncio.start_server(client, "127.0.0.1", 0)
        ports.append(server.sockets[0].getsockname()[1])
        loop = asyncio.get_running_loop()
        stop.append(lambda: loop.call_soon_threadsafe(ended.set))
        ready.set()
        await ended.wait()
        server.close()

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    ready.wait()
    try:
        yield ports[0]
    finally:
        stop[0]()
        thread.join()
