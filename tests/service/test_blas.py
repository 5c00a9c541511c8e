from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

pytest.importorskip("threadpoolctl")

SCRIPT = """
import json
import service.cli
from service.blas import load_numpy_with_one_thread
from service.commands.settings_flags import read_settings
read_settings()
{first}
load_numpy_with_one_thread()
import os
import numpy
from threadpoolctl import threadpool_info
threads = [pool["num_threads"] for pool in threadpool_info() if "numpy" in pool["filepath"]]
print(json.dumps([threads, os.environ.get("OPENBLAS_NUM_THREADS")]))
"""


def run(first: str = "", **variables: str) -> list[object]:
    environment = {k: v for k, v in os.environ.items() if not k.endswith("_NUM_THREADS")}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(first=first)],
        env=environment | variables, capture_output=True, text=True, check=True,
    )  # fmt: skip
    found: list[object] = json.loads(done.stdout)
    return found


def test_numpy_has_one_thread_and_others_are_left_alone() -> None:
    threads, variable = run()
    if not threads:
        pytest.skip("this NumPy has no BLAS whose threads can be told")
    assert threads == [1]
    assert variable is None


def test_it_changes_nothing_where_somebody_else_has_chosen() -> None:
    assert run(OPENBLAS_NUM_THREADS="2")[1] == "2"
    assert run(first="import numpy")[1] is None
