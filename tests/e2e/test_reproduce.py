"""`interlingua reproduce --smoke`, as a person runs it: every system of every paper."""

from __future__ import annotations

import re
import subprocess
import time
from pathlib import Path

import pytest

from tests.e2e.conftest import COMMAND
from training.recipe import recipe_names
from training.reproduce import list_systems

pytestmark = [pytest.mark.slow, pytest.mark.e2e]

LIMIT_SECONDS = 600


@pytest.mark.timeout(2 * LIMIT_SECONDS)
def test_every_system_is_trained_exported_and_served(tmp_path: Path) -> None:
    begun = time.monotonic()
    done = subprocess.run(
        [COMMAND, "reproduce", "--smoke"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=2 * LIMIT_SECONDS,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    _, *rows = done.stdout.splitlines()
    assert [re.split(r"  +", row)[0] for row in rows] == [
        f"{system.recipe}: {system.name}" for system in list_systems(recipe_names())
    ]
    assert all(row.endswith("served") for row in rows)
    assert list(tmp_path.iterdir()) == []
    assert time.monotonic() - begun < LIMIT_SECONDS
