"""Two processes against one, through the standard launcher."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from training.metrics import read_metrics

_SCRIPT = """
import sys
from pathlib import Path
import torch
from tests.training.test_loop import make_phase
from training.loop import Loop
from training.parallel import process_group

torch.set_num_threads(1)
with process_group():
    Loop(make_phase(), Path(sys.argv[1]), device=torch.device("cpu")).run()
"""


@pytest.mark.slow
def test_two_processes_have_the_loss_curve_of_one(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(_SCRIPT)
    root = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": str(root), "OMP_NUM_THREADS": "1"}
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    curves = []
    for launcher in ([sys.executable], torchrun):
        directory = tmp_path / str(len(launcher))
        subprocess.run(
            [*launcher, str(script), str(directory)],
            env=environment,
            cwd=root,
            check=True,
            capture_output=True,
            timeout=120,
        )
        rows = read_metrics(directory / "metrics.jsonl")
        curves.append([row["loss"] for row in rows])
    assert len(curves[0]) == 12
    assert curves[1] == pytest.approx(curves[0], rel=1e-3)
