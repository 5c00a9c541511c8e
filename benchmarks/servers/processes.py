"""Start a server, wait until it answers, know its memory, end it."""

from __future__ import annotations

import compileall
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import service
from benchmarks.drills.fleet import free_port
from benchmarks.servers.client import closed_loop, measure
from benchmarks.servers.peers import Peer, programs_of
from benchmarks.serving import resident_mb

START_SECONDS = 180


@dataclass(frozen=True, slots=True)
class Running:
    """A server that answers.

    Attributes:
        peer: Which.
        port: Where.
        pid: Of its first process.
        seconds: From its start to its first vector.
    """

    peer: Peer
    port: int
    pid: int
    seconds: float

    def resident_mb(self) -> float:
        """Return the resident memory of the process and its children, in MB."""
        return sum(_resident_mb(pid) for pid in _family(self.pid))


@contextmanager
def running(peer: Peer, *, environments: Path, models: Path) -> Iterator[Running]:
    """Yield `peer`, started, once it has given a first vector.

    Ours is started twice: what it keeps between starts (measured choices) is there, as it is for
    every restart of one's own. Its code is compiled, as pip does for the others.
    """
    programs = programs_of(peer.environment, environments)
    with tempfile.TemporaryDirectory() as scratch:
        if peer.environment is None:
            compileall.compile_dir(Path(service.__file__).parent, quiet=1)
            _end(_start(peer, programs, models, Path(scratch))[0])
        process, port, seconds = _start(peer, programs, models, Path(scratch))
        try:
            yield Running(peer, port, process.pid, seconds)
        finally:
            _end(process)


def _start(
    peer: Peer, programs: Path, models: Path, scratch: Path
) -> tuple[subprocess.Popen[bytes], int, float]:
    port = free_port()
    command = list(peer.command(programs, models, port, scratch))
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}
    environment |= {"HF_HUB_CACHE": str(scratch), **peer.variables}
    began = time.perf_counter()
    with (scratch / "log").open("wb") as log:
        folder = None if peer.folder is None else models / peer.folder
        process = subprocess.Popen(command, stdout=log, stderr=log, env=environment, cwd=folder)
    while process.poll() is None and time.perf_counter() - began < START_SECONDS:
        with suppress(ValueError):
            load = measure(closed_loop(port, [peer.request(["One text."])], clients=1, seconds=0))
            if load.milliseconds and not load.failed:
                return process, port, time.perf_counter() - began
        time.sleep(0.02)
    code = process.poll()
    _end(process)
    what = f"gave no vector in {START_SECONDS} s" if code is None else f"ended with {code}"
    raise SystemExit(f"{peer.name} {what}:\n{(scratch / 'log').read_text()[-3000:]}")


def _end(process: subprocess.Popen[bytes]) -> None:
    family = _family(process.pid)
    process.terminate()
    try:
        process.wait(15)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for pid in family[1:]:  # some leave their children behind
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _family(pid: int) -> list[int]:
    found = [pid]
    for parent in found:
        with suppress(OSError):
            children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
            found += map(int, children)
    return found


def _resident_mb(pid: int) -> float:
    with suppress(OSError):
        return resident_mb(pid)
    return 0.0
