"""The figures of a run: one JSON object a line, and the same for TensorBoard."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from torch.utils.tensorboard import SummaryWriter

from training.store import write_whole

METRICS_FILE = "metrics.jsonl"


class MetricsLog:
    """Writes `metrics.jsonl` and a TensorBoard log into a run's directory.

    Args:
        directory: Of the run.
        step: Where the run goes on from; lines of later steps, left by a run that was broken
            off after its last checkpoint, are taken out.
    """

    def __init__(self, directory: Path, *, step: int = 0) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self._path = directory / METRICS_FILE
        kept = [row for row in read_metrics(self._path) if row["step"] <= step and step]
        write_whole(self._path, "".join(json.dumps(row) + "\n" for row in kept))
        self._board = SummaryWriter(str(directory / "tensorboard"), purge_step=step)

    def write(self, kind: str, step: int, figures: Mapping[str, float]) -> None:
        """Add the figures of `step`; `kind` is `train` or `dev`."""
        row = {"kind": kind, "step": step, **figures}
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        for name, value in figures.items():
            self._board.add_scalar(f"{kind}/{name}", value, step)

    def close(self) -> None:
        """Write out what is buffered."""
        self._board.close()


def read_metrics(path: Path, kind: str | None = None) -> list[dict[str, float]]:
    """Return the rows of a `metrics.jsonl`, of one `kind` or all; none where there is no file.

    A last line without its end was broken off, by a full disk say, and is left out.
    """
    if not path.exists():
        return []
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n")[:-1]]
    return [row for row in rows if kind in (None, row["kind"])]
