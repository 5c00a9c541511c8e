"""The images: built from the Dockerfile, run locked down and without a network, and spoken to."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.deploy.tools import ROOT, docker_engine, run

IMAGE = "interlingua:under-test"
LIMIT_BYTES = {"": 450_000_000, "openvino": 550_000_000}
"""Of the image by the extras that it is built with."""

OPEN = ("-e", "INTERLINGUA_OPEN_TO_NETWORK=true")
LOCKED = ("--read-only", "--tmpfs=/tmp", "--cap-drop=ALL", "--security-opt=no-new-privileges:true")

pytestmark = [pytest.mark.slow, pytest.mark.e2e, pytest.mark.timeout(1200)]


@pytest.fixture(scope="module", params=LIMIT_BYTES, ids=lambda extras: extras or "plain")
def extras(request: pytest.FixtureRequest) -> str:
    """What the image has besides the extra `cpu`."""
    chosen: str = request.param
    return chosen


@pytest.fixture(scope="module")
def docker(extras: str) -> str:
    """The client, when the image is built; layers that are built already are taken."""
    client = docker_engine()
    arguments = ("--build-arg=REVISION=abc", f"--build-arg=EXTRAS={extras}")
    built = subprocess.run(
        [client, "build", "--network=host", *arguments, "-t", IMAGE, ROOT],
        capture_output=True,
        text=True,
        env=os.environ | {"DOCKER_BUILDKIT": "1"},
    )
    if built.returncode and "pull access denied" in built.stderr:
        pytest.skip("the base image cannot be had here")
    assert built.returncode == 0, built.stderr[-3000:]
    return client


def inspected(docker: str) -> dict[str, Any]:
    (found,) = json.loads(run(docker, "image", "inspect", IMAGE))
    assert isinstance(found, dict)
    return found


def in_image(docker: str, *command: str) -> str:
    return run(
        docker, "run", "--rm", "--network=none", f"--entrypoint={command[0]}", IMAGE, *command[1:]
    )


def test_it_is_small(docker: str, extras: str) -> None:
    assert inspected(docker)["Size"] < LIMIT_BYTES[extras]


def test_it_says_what_it_is(docker: str) -> None:
    config = inspected(docker)["Config"]
    labels = config["Labels"]
    assert labels["org.opencontainers.image.revision"] == "abc"
    assert {"title", "description", "version", "created", "licenses"} <= {
        label.removeprefix("org.opencontainers.image.") for label in labels
    }
    assert config["User"] == "10001:10001"
    assert config["StopSignal"] == "SIGTERM"
    assert "curl" not in str(config["Healthcheck"])


@pytest.mark.parametrize("module", ["torch", "pip", "setuptools", "ensurepip"])
def test_it_holds_nothing_that_only_building_needs(docker: str, module: str) -> None:
    code = f"import importlib.util as u; print(u.find_spec({module!r}))"
    assert in_image(docker, "python", "-c", code).strip() == "None"
    names = in_image(docker, "sh", "-c", "ls /usr/bin /usr/local/bin /opt/interlingua/bin")
    assert not {"gcc", "cc", "make", "pip", "pip3", "curl"} & set(names.split())


def test_it_starts_without_a_network_and_drains(docker: str) -> None:
    began = time.monotonic()
    name = run(docker, "run", "-d", "--network=none", *OPEN, *LOCKED, IMAGE).strip()
    try:
        until = began + 60
        while "Interlingua is up" not in (log := logs(docker, name)):
            assert time.monotonic() < until, log
            time.sleep(0.1)
        run(docker, "stop", name)
        (state,) = json.loads(run(docker, "inspect", name))
        assert state["State"]["ExitCode"] == 0
    finally:
        run(docker, "rm", "-fv", name)


def test_without_keys_it_does_not_open_itself_to_a_network(docker: str) -> None:
    done = subprocess.run([docker, "run", "--rm", IMAGE], capture_output=True, text=True)
    assert done.returncode == 2
    assert "INTERLINGUA_OPEN_TO_NETWORK" in done.stderr


def test_its_health_is_known_to_the_engine(docker: str, container: tuple[str, str]) -> None:
    name, _ = container
    until = time.monotonic() + 60
    while time.monotonic() < until:
        (state,) = json.loads(run(docker, "inspect", name))
        if state["State"]["Health"]["Status"] == "healthy":
            return
        time.sleep(0.5)
    pytest.fail("not healthy within 60 s")


@pytest.fixture(scope="module")
def container(docker: str) -> Iterator[tuple[str, str]]:
    """A running container and its URL on this machine's loopback."""
    name = run(docker, "run", "-d", "-p", "127.0.0.1:0:8000", *OPEN, *LOCKED, IMAGE).strip()
    try:
        address = run(docker, "port", name, "8000").split()[0]
        url = f"http://{address}"
        until = time.monotonic() + 60
        while time.monotonic() < until:
            try:
                if httpx.get(f"{url}/health/ready").status_code == 200:
                    break
            except httpx.TransportError:
                pass
            time.sleep(0.05)
        yield name, url
    finally:
        run(docker, "rm", "-fv", name)


def test_it_serves_on_what_it_brings(container: tuple[str, str], extras: str) -> None:
    _, url = container
    served = httpx.get(f"{url}/info").json()
    assert served["runtime"] == (extras or "onnxruntime")


def test_the_end_to_end_suite_passes_against_it(
    docker: str, container: tuple[str, str], tmp_path: Path
) -> None:
    name, url = container
    banner = tmp_path / "banner"
    banner.write_text(logs(docker, name))
    said = run(
        sys.executable,
        *("-m", "pytest", "-q", "tests/e2e/test_readme.py", "tests/e2e/test_demo_corpus.py"),
        INTERLINGUA_E2E_URL=url,
        INTERLINGUA_E2E_BANNER=str(banner),
    )
    assert " passed" in said
    assert "skipped" not in said


def logs(docker: str, name: str) -> str:
    done = subprocess.run([docker, "logs", name], capture_output=True, text=True, check=True)
    return done.stdout + done.stderr
