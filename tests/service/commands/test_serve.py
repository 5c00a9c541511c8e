"""What `interlingua serve` does before the server is there."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize(("process", "ended"), [(1, 128 + signal.SIGTERM), (7, -signal.SIGTERM)])
def test_sigterm_beside_the_imports_ends_a_first_process_too(process: int, ended: int) -> None:
    """Any other keeps the system's own way, which tells its parent of the signal."""
    code = f"""
import os, signal
me, os.getpid = os.getpid(), lambda: {process}

def read_settings(**_):
    if {process} == 1:
        assert signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL  # else it would be lost
    os.kill(me, signal.SIGTERM)

from service.commands import serve
serve.read_settings = read_settings
serve.serve([])
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=Path(__file__).parents[3], capture_output=True, text=True
    )
    assert done.returncode == ended, done.stderr
