from __future__ import annotations

import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = Path(sys.executable).with_name("interlingua")


def start(tmp_path: Path, model: Path, *flags: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [
            COMMAND,
            "serve",
            "--data",
            tmp_path / "data",
            "--model",
            model,
            "--no-demo-corpus",
            *flags,
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.e2e
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_it_cleanly(
    tmp_path: Path, tiny_bundle: Path, number: signal.Signals
) -> None:
    process = start(tmp_path, tiny_bundle, "--port", "0")
    assert process.stdout is not None
    while "/classify" not in (line := process.stdout.readline()):
        assert line, "the server ended before it was up"
    process.send_signal(number)
    assert process.wait(20) == 0
    process.communicate()


@pytest.mark.e2e
def test_a_bad_model_is_said_in_one_line(tmp_path: Path) -> None:
    process = start(tmp_path, tmp_path, "--port", "0")
    _, errors = process.communicate(timeout=20)
    assert process.returncode == 1
    assert "has no bundle.json" in errors
    assert "Traceback" not in errors


@pytest.mark.e2e
def test_a_taken_port_is_said_with_the_remedy(tmp_path: Path, tiny_bundle: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        process = start(tmp_path, tiny_bundle, "--port", str(taken.getsockname()[1]))
        _, errors = process.communicate(timeout=20)
    assert process.returncode == 2
    assert "--port 0" in errors
