"""docker-compose.yml, run as it is but for three things, under a project name of its own.

Ports of this machine are free ones, programs that come as other people's images are Debian's
where those images cannot be pulled, and Milvus is its embedded twin, which the replicas' image
holds. Commands, configuration, networks, volumes, limits and hardening stay as they are written.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
import yaml

from tests.deploy.tools import ROOT, compose, docker_engine

PROJECT = "interlingua-test"
OPERATORS = f"{PROJECT}/operators"
_DOCKERFILE = """\
FROM python:3.11-slim-bookworm
RUN apt-get update && apt-get install -y --no-install-recommends prometheus haproxy
"""
_IMAGES = {"interlingua:latest": "openvino", "interlingua:scale": "milvus,openvino"}
"""With the extras that they are built with."""

_ENGINE = "milvus_lite server --host=0.0.0.0 --port=19530 --data-dir=/var/lib/milvus"
_LISTENS = "import socket; socket.create_connection(('127.0.0.1', 19530), 2)"


class Stack:
    """The stack: `home` is a directory for its file."""

    def __init__(self, home: Path) -> None:
        self._docker = docker_engine()
        file = home / "docker-compose.yml"
        file.write_text(yaml.safe_dump(self._adapted()))
        self._compose = [
            *(*compose(), "--project-directory", str(ROOT), "-p", PROJECT, "-f", str(file)),
            *("--profile", "scale"),
        ]

    def build(self) -> None:
        """Build our images, and one with Debian's programs; skip where no base can be had."""
        built = self._call(
            [self._docker, "build", "--network=host", "-t", OPERATORS, "-"], text=_DOCKERFILE
        )
        if built.returncode:
            pytest.skip(f"no image of Prometheus and HAProxy can be made: {built.stderr[-300:]}")
        for tag, extras in _IMAGES.items():
            arguments = ["--network=host", f"--build-arg=EXTRAS={extras}", "-t", tag, str(ROOT)]
            built = self._call([self._docker, "build", *arguments])
            assert built.returncode == 0, built.stderr[-3000:]

    def do(self, *arguments: str) -> str:
        """Run a command of Docker Compose; return what it prints."""
        done = self._call([*self._compose, *arguments])
        assert done.returncode == 0, f"{arguments}: {done.stdout}\n{done.stderr}"
        return done.stdout

    def logs(self, service: str) -> str:
        """Return what a service has printed."""
        return self.do("logs", "--no-color", service)

    def url(self, service: str, port: int) -> str:
        """Return where a service is reached on this machine."""
        return f"http://{self.do('port', service, str(port)).strip()}"

    def healthy(self, service: str) -> bool:
        """Return whether Docker's own health check of a service says yes."""
        (container,) = self.do("ps", "-q", service).split()
        said = self._call([self._docker, "inspect", container])
        (state,) = json.loads(said.stdout)
        return bool(state["State"]["Health"]["Status"] == "healthy")

    def firing(self, alert: str) -> bool:
        """Return whether an alert fires."""
        return bool(self.query(f'ALERTS{{alertname="{alert}",alertstate="firing"}}'))

    def query(self, expression: str) -> list[dict[str, Any]]:
        """Return what the stack's Prometheus answers."""
        url = f"{self.url('prometheus', 9090)}/api/v1/query?query={quote(expression)}"
        answer = httpx.get(url).raise_for_status().json()
        result: list[dict[str, Any]] = answer["data"]["result"]
        return result

    def _adapted(self) -> dict[str, Any]:
        file: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
        services = file["services"]
        for service in services.values():
            if "ports" in service:
                service["ports"] = [f"127.0.0.1::{p.split(':')[-1]}" for p in service["ports"]]
        for name in ("prometheus", "balancer"):
            services[name]["image"] = OPERATORS
        services["prometheus"]["entrypoint"] = ["prometheus"]
        services["balancer"]["command"] = "haproxy -db -f /usr/local/etc/haproxy/haproxy.cfg"
        engine = services["engine"]
        engine |= {
            "image": "interlingua:scale",
            "user": "0:0",  # whom Milvus' image runs as
            "entrypoint": ["python", "-m", *_ENGINE.split()],
            "command": [],
            "environment": {},
        }
        engine["healthcheck"]["test"] = ["CMD", "python", "-c", _LISTENS]
        return file

    def _call(
        self, command: Sequence[str], text: str | None = None
    ) -> subprocess.CompletedProcess[str]:
        environment = os.environ | {"DOCKER_BUILDKIT": "1"}
        return subprocess.run(command, input=text, capture_output=True, text=True, env=environment)


def wait_until(what: str, true: Callable[[], bool], *, seconds: float) -> float:
    """Return after how many seconds `true` was; fail, naming `what`, where it was not in time."""
    began = time.monotonic()
    while time.monotonic() - began < seconds:
        try:
            if true():
                return time.monotonic() - began
        except httpx.HTTPError:
            pass
        time.sleep(0.3)
    pytest.fail(f"not within {seconds:.0f} s: {what}")
