"""A hundred thousand requests that nobody would write, to a real server.

    python -m benchmarks.fuzz.requests [--requests 100000] [--seed 0]

Bodies are made of the examples in the OpenAPI document: values exchanged for others of any type,
fields left out, doubled and invented, nesting, and bytes changed; paths, query parameters and
headers are treated alike. No answer may be a 5xx but the 503 that says why, none may be missing,
and the log may hold no traceback.
"""

from __future__ import annotations

import argparse
import asyncio
import collections
import json
import random
import tempfile
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

from benchmarks.arguments import whole_number
from benchmarks.drills.fleet import ask, free_port
from benchmarks.fuzz.values import Values
from benchmarks.overload.served import Served
from benchmarks.serving import machine

CLIENTS = 8
PATIENCE_SECONDS = 60
STATED_503 = (b"urn:interlingua:problem:storage", b"urn:interlingua:problem:unavailable")


class Routes:
    """The routes of an OpenAPI document, and requests to them.

    Args:
        document: As GET /openapi.json gives it.
        chance: Where the requests are drawn from.
    """

    def __init__(self, document: dict[str, Any], chance: random.Random) -> None:
        self._chance = chance
        self._values = Values(chance)
        self._schemas = document["components"]["schemas"]
        self._routes = [
            (method.upper(), path, route)
            for path, methods in document["paths"].items()
            for method, route in methods.items()
        ]

    def request(self) -> bytes:
        """Return one request, whole: most of them nearly right."""
        method, path, route = self._chance.choice(self._routes)
        for parameter in route.get("parameters", ()):
            if parameter["in"] == "path":
                path = path.replace("{" + parameter["name"] + "}", self._values.name())
        path = path.replace("{id}", self._values.name()).replace("{name}", self._values.name())
        query = {
            parameter["name"]: self._values.scalar()
            for parameter in route.get("parameters", ())
            if parameter["in"] == "query"
            and (parameter.get("required") or self._chance.random() < 0.3)
        }
        if query:
            path += "?" + "&".join(
                f"{name}={quote(str(value), errors='replace')}" for name, value in query.items()
            )
        lines = [f"{method} {path} HTTP/1.1", "host: localhost", *self._headers()]
        body = self._body(route)
        if body is not None:
            kind = "application/json"
            if self._chance.random() < 0.1:
                kind = self._chance.choice(("application/x-ndjson", "text/plain", "a/b+json", "\t"))
            lines += [f"content-type: {kind}", f"content-length: {len(body)}"]
        head = "\r\n".join([*lines, "", ""]).encode("latin-1", "replace")
        return head + (body or b"")

    def _headers(self) -> list[str]:
        headers = []
        for name in ("accept", "x-request-timeout", "x-request-id", "traceparent", "authorization"):
            if self._chance.random() < 0.1:
                headers.append(f"{name}: {self._values.header()}")
        return headers

    def _body(self, route: dict[str, Any]) -> bytes | None:
        content = route.get("requestBody", {}).get("content", {}).get("application/json")
        if content is None:
            return b"{}" if self._chance.random() < 0.05 else None
        schema = self._schemas[content["schema"]["$ref"].rpartition("/")[2]]
        value = self._of_schema(schema)
        text = json.dumps(self._values.spoilt(value)).encode()
        if self._chance.random() < 0.15:
            return self._values.damaged(text)
        return text

    def _of_schema(self, schema: dict[str, Any]) -> object:
        examples = schema.get("examples")
        if examples and self._chance.random() < 0.7:
            return self._chance.choice(examples)
        return {
            name: self._values.any()
            for name in schema.get("properties", {})
            if name in schema.get("required", ()) or self._chance.random() < 0.4
        }


async def client(port: int, requests: list[bytes], seen: collections.Counter[str]) -> None:
    """Send `requests` one after the other; count the answers, and note those that are wrong."""
    reader = writer = None
    for request in requests:
        try:
            if writer is None:
                reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 24)
            assert reader is not None
            writer.write(request)
            async with asyncio.timeout(PATIENCE_SECONDS):
                head = await reader.readuntil(b"\r\n\r\n")
                body = await _body(head, reader)
            status = int(head[9:12])
            seen[str(status)] += 1
            if status >= 500 and not (status == 503 and any(s in body for s in STATED_503)):
                seen["wrong"] += 1
                print(f"{status}: {request[:3000]!r}\n    {body[:500]!r}", flush=True)
            if b"connection: close" in head.lower():
                writer.close()
                writer = None
        except (OSError, asyncio.IncompleteReadError) as error:
            if isinstance(error, TimeoutError):
                seen["wrong"] += 1
                print(f"no answer in {PATIENCE_SECONDS} s: {request[:3000]!r}", flush=True)
            else:  # Uvicorn closes after what is no HTTP at all, which some of the headers are.
                seen[f"closed ({type(error).__name__})"] += 1
            if writer is not None:
                writer.close()
            writer = None


async def _body(head: bytes, reader: asyncio.StreamReader) -> bytes:
    lower = head.lower()
    if b"content-length: " in lower:
        return await reader.readexactly(int(lower.split(b"content-length: ")[1].split()[0]))
    if b"transfer-encoding: chunked" not in lower:
        return b""
    body = b""
    while size := int(await reader.readline(), 16):
        body += await reader.readexactly(size)
        await reader.readline()
    await reader.readline()
    return body


def main() -> None:
    """Start a server, send, count; end with 1 where an answer is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=whole_number, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print(f"machine: {machine()}")
    with (
        tempfile.TemporaryDirectory() as home,
        Served(Path(home), free_port(), max_inputs="64", request_timeout_seconds="5",
               client_timeout_seconds="5") as served,
    ):  # fmt: skip
        _, text = ask(served.port, "/openapi.json")
        routes = Routes(json.loads(text), random.Random(options.seed))
        seen: collections.Counter[str] = collections.Counter()
        began = time.monotonic()
        left = options.requests
        while left:
            turn = min(left, 4000)
            batch = [routes.request() for _ in range(turn)]
            asyncio.run(_all(served.port, batch, seen))
            left -= turn
        seconds = time.monotonic() - began
        alive = ask(served.port, "/health/ready")[0] == 200
        log = served.log.read_text(errors="replace")
    print(f"{options.requests} requests in {seconds:.0f} s: {dict(sorted(seen.items()))}")
    print(f"ready in the end: {alive}; tracebacks in the log: {log.count('Traceback')}; "
          f"wrong answers: {seen['wrong']}")  # fmt: skip
    if seen["wrong"] or not alive or "Traceback" in log:
        print(log[-3000:])
        raise SystemExit(1)


async def _all(port: int, batch: list[bytes], seen: collections.Counter[str]) -> None:
    await asyncio.gather(*(client(port, batch[part::CLIENTS], seen) for part in range(CLIENTS)))


if __name__ == "__main__":
    main()
