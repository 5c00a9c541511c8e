"""The learning curve of a stage, drawn from its `metrics.jsonl`."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
from matplotlib import pyplot as plt

from service.errors import InputError
from training.evaluation.plots import check_ending
from training.metrics import METRICS_FILE, read_metrics

_NOT_DRAWN = frozenset(
    {
        "kind",
        "step",
        "seconds",
        "words",
        "words_per_second",
        "words_per_processor_second",
        "rate",
        "loss",
    }
)


def draw_curve(directory: Path, path: Path) -> None:
    """Draw the losses and development figures of the stage in `directory` over minutes.

    Args:
        directory: Of a stage of a run; holds `metrics.jsonl`.
        path: The picture; its ending says which kind (`.svg`, `.png`).

    Raises:
        InputError: There is nothing to draw, or no such picture can be.
    """
    check_ending(path, field="PICTURE")
    train = read_metrics(directory / METRICS_FILE, "train")
    develop = read_metrics(directory / METRICS_FILE, "dev")
    if not train:
        raise InputError(
            f"{directory} has no figures.",
            field="RUN",
            given=str(directory),
            remedy=f"Give the folder of a stage, with a {METRICS_FILE}.",
        )
    # Element ids of an SVG are random by default; a fixed salt gives the same file again.
    with mpl.rc_context({"svg.hashsalt": "interlingua", "font.size": 9}):
        figure, (losses, figures) = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
        for name in sorted(train[0].keys() - _NOT_DRAWN):
            minutes = [row["seconds"] / 60 for row in train]
            losses.plot(minutes, [row[name] for row in train], label=name, linewidth=1)
        losses.set(xlabel="minutes of training", ylabel="weighted loss", ylim=(0, None))
        losses.legend()
        for name in sorted(develop[0].keys() - _NOT_DRAWN) if develop else ():
            minutes = [row["seconds"] / 60 for row in develop]
            label = name.replace("_", " ")
            figures.plot(minutes, [row[name] for row in develop], ".-", label=label, linewidth=1)
            figures.legend()
        speed = train[-1]["words"] / max(train[-1]["seconds"], 1e-9)
        figures.set(xlabel="minutes of training", ylabel="development")
        figures.set_title(f"{speed:,.0f} words a second", loc="right")
        path.parent.mkdir(parents=True, exist_ok=True)
        metadata = {"Date": None} if path.suffix == ".svg" else None
        figure.savefig(path, metadata=metadata)
        plt.close(figure)
