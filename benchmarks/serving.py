"""How fast the shipped model is: in process, and through a real server over HTTP.

    python -m benchmarks.serving [--model DIR] [--seconds 5] [--repeats 5]

The texts are the demo corpus, so everybody measures the same. Every figure is the median of the
repeats, with the lowest and the highest beside it.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.arguments import above_zero, existing_folder, whole_number
from benchmarks.drills.fleet import ask, free_port
from benchmarks.models import FAST
from service.hardware import available_cores, processor_name
from service.inference.encoder import Encoder
from service.shipped import DEMO_CORPUS

TEXTS_PER_REQUEST = 64
CLIENTS = 4


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=existing_folder, default=FAST)
    parser.add_argument("--seconds", type=above_zero, default=5.0, help="of each measurement")
    parser.add_argument("--repeats", type=whole_number, default=5)
    options = parser.parse_args()
    texts = demo_texts()
    print(f"machine: {machine()}")
    print(f"model: {options.model.name}; texts: {len(texts)} sentences of the demo corpus")
    print(f"{'':52} median   (min .. max)")
    encoder = Encoder(options.model)
    report(
        "sentences/s in process, one thread",
        lambda: in_process(encoder, texts, options.seconds),
        options.repeats,
    )
    with running_server(options.model) as (port, pid, ready_seconds):
        print(f"{'start to ready, s':52} {ready_seconds:.2f}")
        print(f"{'resident memory when ready, MB':52} {resident_mb(pid):.0f}")
        report(
            f"sentences/s of /embed, {TEXTS_PER_REQUEST} a request, {CLIENTS} clients, JSON",
            lambda: over_http(port, texts, options.seconds, "/embed", CLIENTS, embed_body),
            options.repeats,
        )
        report(
            f"sentences/s of /v1/embeddings, {TEXTS_PER_REQUEST} a request, base64",
            lambda: over_http(port, texts, options.seconds, "/v1/embeddings", CLIENTS, openai_body),
            options.repeats,
        )
        report(
            "latency of one sentence alone, p50 ms",
            lambda: single_latency_ms(port, texts, options.seconds / 5),
            options.repeats,
        )
        print(f"{'resident memory after it all, MB':52} {resident_mb(pid):.0f}")


def demo_texts() -> list[str]:
    """Return the sentences of the demo corpus."""
    return [json.loads(line)["text"] for line in DEMO_CORPUS.read_text("utf-8").splitlines()]


def report(what: str, measure: Callable[[], float], repeats: int) -> None:
    """Print the median of `repeats` measurements and their range."""
    figures = sorted(measure() for _ in range(repeats))
    middle = statistics.median(figures)
    print(f"{what:52} {middle:,.2f}   ({figures[0]:,.2f} .. {figures[-1]:,.2f})", flush=True)


def in_process(encoder: Encoder, texts: list[str], seconds: float) -> float:
    """Return sentences a second of `Encoder.encode` over all of `texts`."""
    encoder.encode(texts[:256])
    began, done = time.perf_counter(), 0
    while time.perf_counter() - began < seconds:
        encoder.encode(texts)
        done += len(texts)
    return done / (time.perf_counter() - began)


def embed_body(texts: list[str]) -> dict[str, object]:
    """Return the body of text-embeddings-inference's shape."""
    return {"inputs": texts}


def openai_body(texts: list[str]) -> dict[str, object]:
    """Return the body that the official OpenAI client sends by default."""
    return {"input": texts, "model": "default", "encoding_format": "base64"}


def over_http(
    port: int,
    texts: list[str],
    seconds: float,
    path: str,
    clients: int,
    body: Callable[[list[str]], dict[str, object]],
) -> float:
    """Return sentences a second over `clients` keep-alive connections, each a closed loop."""
    starts = range(0, len(texts) - TEXTS_PER_REQUEST, TEXTS_PER_REQUEST)
    bodies = [json.dumps(body(texts[s : s + TEXTS_PER_REQUEST])).encode() for s in starts]
    until = time.perf_counter() + seconds

    def client(number: int) -> int:
        asked = 0
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port)) as connection:
            while time.perf_counter() < until:
                post(connection, path, bodies[(number + asked) % len(bodies)])
                asked += 1
        return asked

    began = time.perf_counter()
    # A pool, since a thread of one's own keeps to itself that it ended before its time.
    with ThreadPoolExecutor(clients) as pool:
        asked = sum(pool.map(client, range(clients)))
    return asked * TEXTS_PER_REQUEST / (time.perf_counter() - began)


def single_latency_ms(port: int, texts: list[str], seconds: float) -> float:
    """Return the median milliseconds of one text a request, one request at a time."""
    bodies = [json.dumps({"inputs": text}).encode() for text in texts]
    taken: list[float] = []
    until = time.perf_counter() + seconds
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port)) as connection:
        while time.perf_counter() < until:
            began = time.perf_counter()
            post(connection, "/embed", bodies[len(taken) % len(bodies)])
            taken.append(time.perf_counter() - began)
    return 1000 * statistics.median(taken)


def post(connection: http.client.HTTPConnection, path: str, body: bytes) -> bytes:
    """Return the answer's body; anything but 200 ends the benchmark."""
    connection.request("POST", path, body, {"Content-Type": "application/json"})
    response = connection.getresponse()
    content = response.read()
    if response.status != 200:
        raise SystemExit(f"{path} answered {response.status}: {content[:500]!r}")
    return content


@contextlib.contextmanager
def running_server(model: Path) -> Iterator[tuple[int, int, float]]:
    """Yield port, process id and seconds from start to ready of a server of its own."""
    with tempfile.TemporaryDirectory() as home:
        # A second start: the demo corpus is there already, as it is for every restart.
        with _started(model, Path(home)):
            pass
        with _started(model, Path(home)) as server:
            yield server


@contextlib.contextmanager
def _started(model: Path, home: Path) -> Iterator[tuple[int, int, float]]:
    port, data, log = free_port(), home / "data", home / "log"
    with log.open("wb") as said:
        began = time.perf_counter()
        process = subprocess.Popen(
            ["interlingua", "serve", f"--port={port}", f"--data={data}", f"--model={model}"],
            executable=Path(sys.executable).with_name("interlingua"),
            stdout=said,
            stderr=said,
        )
    try:
        wait_ready(port, process, log)
        yield port, process.pid, time.perf_counter() - began
    finally:
        process.terminate()
        process.wait(30)


def wait_ready(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    """Return when /health/ready says 200; a server that ends is told with the end of its `log`."""
    while ask(port, "/health/ready")[0] != 200:
        if process.poll() is not None:
            said = log.read_text(errors="replace")[-2000:]
            raise SystemExit(f"the server ended with code {process.returncode}:\n{said}")
        time.sleep(0.02)


def resident_mb(pid: int) -> float:
    """Return the resident set of a process in MB."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def machine() -> str:
    """Return what matters of this machine."""
    return f"{processor_name()}, {available_cores()} cores, Python {platform.python_version()}"


if __name__ == "__main__":
    main()
