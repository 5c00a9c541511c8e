"""Nothing of ours, or of what we run on, reports to anybody."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from service.shipped import shipped_models

GRAPH = shipped_models()[0] / "encoder.onnx"
MAKE_A_SESSION = f"""
import service.inference.onnx_session
import onnxruntime as ort
ort.InferenceSession({str(GRAPH)!r}, providers=["CPUExecutionProvider"])
"""


@pytest.mark.parametrize("asked_for", [False, True], ids=["by default", "asked for"])
def test_the_runtime_keeps_no_id_of_the_machine_unless_asked_to(
    tmp_path: Path, asked_for: bool
) -> None:
    """Its telemetry begins with such an id in a cache below the home directory."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("ORT_", "XDG_", "CI"))}
    environment["HOME"] = str(tmp_path)
    if asked_for:
        environment["ORT_DISABLE_TELEMETRY"] = "0"
    subprocess.run([sys.executable, "-c", MAKE_A_SESSION], env=environment, check=True)
    kept = [path.name for path in tmp_path.rglob("*") if path.is_file()]
    if asked_for and not kept:
        pytest.skip("this build of ONNX Runtime keeps none in any case")
    assert bool(kept) == asked_for
