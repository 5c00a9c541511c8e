"""The programs that these tests run, and the reason for a skip where one is not there."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

ROOT = Path(__file__).parents[2]
RULES = ROOT / "deploy" / "prometheus" / "rules.yml"
DASHBOARD = ROOT / "deploy" / "grafana" / "dashboards" / "interlingua.json"

_WHERE = {
    "promtool": "it comes with Prometheus (Debian: apt-get install prometheus)",
    "prometheus": "Debian: apt-get install prometheus",
    "kubectl": "kubernetes.io/docs/tasks/tools",
    "haproxy": "Debian: apt-get install haproxy",
    "docker": "Debian: apt-get install docker.io docker-compose",
}


def tool(name: str) -> str:
    """Return the path of a program, or skip the test with where it is to be had."""
    path = shutil.which(name)
    if path is None:
        pytest.skip(f"{name} is not installed; {_WHERE[name]}")
    return path


def compose() -> list[str]:
    """Return the command of Docker Compose, the plugin or the program of its own."""
    if docker := shutil.which("docker"):
        plugin = [docker, "compose"]
        if subprocess.run([*plugin, "version"], capture_output=True).returncode == 0:
            return plugin
    if alone := shutil.which("docker-compose"):
        return [alone]
    pytest.skip(f"Docker Compose is not installed; {_WHERE['docker']}")


def docker_engine() -> str:
    """Return the docker client, or skip where no engine answers."""
    for candidate in ("/usr/bin/docker", shutil.which("docker")):
        if candidate and Path(candidate).exists():
            asked = subprocess.run([candidate, "info"], capture_output=True, env=os.environ)
            if asked.returncode == 0:
                return candidate
    pytest.skip("no Docker engine answers; start one, and set DOCKER_HOST where it is not usual")


def run(*command: str | Path, **environment: str) -> str:
    """Return what a command prints; the test fails with it when the command does."""
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=ROOT, env=os.environ | environment
    )
    assert done.returncode == 0, f"{command}: {done.stdout}\n{done.stderr}"
    return done.stdout


@contextmanager
def running_prometheus(home: Path) -> Iterator[httpx.Client]:
    """Run Prometheus on `home`/prometheus.yml and give a client of it once it is ready."""
    program = tool("prometheus")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [
            program,
            f"--config.file={home / 'prometheus.yml'}",
            f"--storage.tsdb.path={home / 'tsdb'}",
            f"--web.listen-address=127.0.0.1:{port}",
        ],
        stderr=subprocess.DEVNULL,
    )
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}") as client:
            _wait_until_ready(client)
            yield client
    finally:
        process.terminate()
        process.wait(20)


def _wait_until_ready(client: httpx.Client) -> None:
    until = time.monotonic() + 30
    while time.monotonic() < until:
        try:
            if client.get("/-/ready").status_code == 200:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.1)
    pytest.fail("Prometheus was not ready within 30 s")


def documents(text: str) -> list[dict[str, Any]]:
    """Return the YAML documents in `text`."""
    return [document for document in yaml.safe_load_all(text) if document]
