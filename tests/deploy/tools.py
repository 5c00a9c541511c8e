"""The programs that these tests run, and the reason for a skip where one is not there."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

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


def documents(text: str) -> list[dict[str, Any]]:
    """Return the YAML documents in `text`."""
    return [document for document in yaml.safe_load_all(text) if document]
