"""The image's health check, as it stands in the Dockerfile."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from tests.deploy.tools import ROOT


def command() -> list[str]:
    _, _, after = (ROOT / "Dockerfile").read_text().partition("\nHEALTHCHECK ")
    program, *arguments = json.loads(after.partition("CMD \\\n")[2].partition("\n")[0])
    assert program == "python"
    return [sys.executable, *arguments]


@contextmanager
def answering(status: int) -> Iterator[int]:
    """Answer /health/ready with `status`; give the port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status if self.path == "/health/ready" else 404)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


@pytest.mark.parametrize(("status", "code"), [(200, 0), (503, 1)])
def test_it_asks_the_service_itself_at_the_port_that_is_set(status: int, code: int) -> None:
    nobody = "http://127.0.0.1:1"
    with answering(status) as port:
        environment = os.environ | {"INTERLINGUA_PORT": str(port), "http_proxy": nobody}
        done = subprocess.run(command(), env=environment, capture_output=True, text=True)
    assert done.returncode == code, done.stderr


def test_nobody_there_is_no_health() -> None:
    environment = os.environ | {"INTERLINGUA_PORT": "1"}
    assert subprocess.run(command(), env=environment, capture_output=True).returncode == 1
