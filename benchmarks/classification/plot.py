"""The few-shot curve as a picture."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

_PLACES = {"0": 0, "5": 1, "20": 2, "100": 3, "all": 4}
_STYLES = {"examples": ("-", "examples"), "described": ("--", "labels described, and examples")}
_COLOURS = {"en": "#1b6ca8", "others": "#c8553d"}
_WHO = {"en": "English", "others": "mean of the other languages"}


def draw(found: Mapping[str, Mapping[str, Any]], path: Path) -> None:
    """Draw accuracy against examples a label into `path` (.svg or .png), a panel a task."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, len(found), figsize=(4.6 * len(found), 3.6), squeeze=False)
    for panel, (task, ways) in zip(panels[0], found.items(), strict=True):
        for way, (line, said) in _STYLES.items():
            for who, colour in _COLOURS.items():
                rows = ways.get(way, {})
                places = [_PLACES[shots] for shots in rows]
                values = [row[who] for row in rows.values()]
                panel.plot(
                    places, values, line, color=colour, marker="o", markersize=3,
                    label=f"{_WHO[who]}, {said}",
                )  # fmt: skip
        panel.set_title(task)
        panel.set_xticks(list(_PLACES.values()), list(_PLACES))
        panel.set_xlabel("English examples a label")
        panel.grid(alpha=0.3)
    panels[0][0].set_ylabel("accuracy, %")
    panels[0][0].legend(fontsize=6)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
