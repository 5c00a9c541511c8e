"""Replicas as local processes, and the shipped HAProxy configuration in front of them."""

from __future__ import annotations

import http.client
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Self

from benchmarks.models import FAST

_CONFIGURATION = Path(__file__).parents[2] / "deploy" / "haproxy" / "haproxy.cfg"
NOTICE_SECONDS = 3.0
"""How long a replica says that it will leave; the balancer looks every half second."""


def free_port() -> int:
    """Return a port of this machine on which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
    return port


def listening(port: int) -> bool:
    """Return whether somebody listens on a port of this machine."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def ask(port: int, path: str, *, method: str = "GET", body: str | None = None) -> tuple[int, str]:
    """Return status and body of one request; status 0 where nobody answers."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request(method, path, body, {"content-type": "application/json"})
        response = connection.getresponse()
        return response.status, response.read().decode()
    except (OSError, http.client.HTTPException) as error:
        return 0, type(error).__name__
    finally:
        connection.close()


class Replica:
    """One `interlingua serve` with a data directory of its own."""

    def __init__(self, port: int, data: Path, **settings: str) -> None:
        self.port = port
        self.data = data
        self._settings = settings
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> float:
        """Start it; return the seconds until it was ready."""
        began = time.perf_counter()
        environment = os.environ | {
            f"INTERLINGUA_{k.upper()}": v
            for k, v in ({"model": str(FAST)} | self._settings).items()
        }
        log = self.data.with_suffix(".log")
        with log.open("ab") as errors:
            self.process = subprocess.Popen(
                [
                    Path(sys.executable).with_name("interlingua"),
                    "serve",
                    f"--port={self.port}",
                    f"--data={self.data}",
                    "--workers=1",
                    f"--drain-notice-seconds={NOTICE_SECONDS}",
                ],
                env=environment,
                stdout=subprocess.DEVNULL,
                stderr=errors,
            )
        while ask(self.port, "/health/ready")[0] != 200:
            if self.process.poll() is not None:
                said = log.read_text()[-500:]
                raise SystemExit(f"the replica ended with {self.process.returncode}: {said}")
            time.sleep(0.02)
        return time.perf_counter() - began

    def stop(self) -> float:
        """Ask it to stop, as an orchestrator does; return the seconds until it had ended."""
        began = time.perf_counter()
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            code = self.process.wait(60)
            if code != 0:
                raise SystemExit(f"the replica on {self.port} ended with {code}")
        return time.perf_counter() - began

    def kill(self) -> None:
        """End it without a warning."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()


class Balancer:
    """HAProxy with the configuration of the scale profile, over `ports` of this machine."""

    def __init__(self, home: Path, ports: list[int]) -> None:
        program = shutil.which("haproxy") or "/usr/sbin/haproxy"
        if not Path(program).exists():
            raise SystemExit("haproxy is not installed (Debian: apt-get install haproxy)")
        self.port = free_port()
        text = _CONFIGURATION.read_text()
        text = text.replace("bind :8080", f"bind 127.0.0.1:{self.port}")
        text = re.sub(r"(?m)^resolvers docker\n(    .*\n)+", "", text)
        text = text.replace(" init-addr none resolvers docker", "")
        servers = "\n".join(f"    server replica-{port} 127.0.0.1:{port}" for port in ports)
        text = re.sub(r"    server-template .*", servers, text)
        self._file = home / "haproxy.cfg"
        self._file.write_text(text)
        self._command = [program, "-db", "-f", str(self._file)]

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            self._command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        return self

    def __exit__(self, *raised: object) -> None:
        self._process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(10)

    def wait_ready(self) -> None:
        """Return when a request gets through."""
        until = time.monotonic() + 20
        while ask(self.port, "/health/ready")[0] != 200:
            if time.monotonic() > until:
                raise SystemExit("the balancer found no replica within 20 s")
            time.sleep(0.05)
        # Servers count as up until their first check: empty slots must have been found out.
        time.sleep(2)
