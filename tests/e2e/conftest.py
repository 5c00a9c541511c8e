"""A real server process, started by the command of the README."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from service.shipped import shipped_models

COMMAND = Path(sys.executable).with_name("interlingua")


@dataclass
class Server:
    """A running `interlingua serve`."""

    started: subprocess.Popen[str] | None  # None where it is not ours to stop
    url: str
    banner: str
    client: httpx.Client

    @property
    def process(self) -> subprocess.Popen[str]:
        assert self.started is not None, "this server was started by somebody else"
        return self.started

    def kill(self) -> None:
        """End it as a power cut would."""
        self.process.kill()
        self._ended(10)

    def stop(self) -> int:
        """Ask it to stop, as an orchestrator would; return its exit code."""
        self.process.terminate()
        return self._ended(30)

    def _ended(self, seconds: float) -> int:
        code = self.process.wait(seconds)
        self.client.close()
        assert self.process.stdout is not None
        self.process.stdout.close()
        return code


def start_server(data: Path, *flags: str) -> Server:
    """Start a server on a free port and wait for its banner."""
    process = subprocess.Popen(
        [COMMAND, "serve", "--port", "0", "--data", data, *flags],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    banner = ""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        line = process.stdout.readline()
        if not line:
            break
        banner += line
        if "/classify" in line:  # the last of the three curl lines
            break
    found = re.search(r"http://127\.0\.0\.1:\d+", banner)
    if found is None:
        process.kill()
        pytest.fail(f"the server printed no URL: {banner!r}")
    url = found.group()
    return Server(process, url, banner, httpx.Client(base_url=url, timeout=30))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    if url := os.environ.get("INTERLINGUA_E2E_URL"):
        # Against what somebody else started and stops, such as a container.
        banner = Path(os.environ["INTERLINGUA_E2E_BANNER"]).read_text()
        with httpx.Client(base_url=url, timeout=30) as client:
            yield Server(None, url, banner.replace("http://127.0.0.1:8000", url), client)
        return
    if not shipped_models():
        pytest.skip("no model is shipped in this checkout")
    server = start_server(tmp_path_factory.mktemp("data"))
    yield server
    assert server.stop() == 0
