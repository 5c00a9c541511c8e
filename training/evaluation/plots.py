"""Figures of protocols as pictures: a bar a language, a matrix of languages."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from service.errors import InputError
from training.evaluation.figures import Figure

ENDINGS = (".svg", ".png")


def check_ending(path: Path, *, field: str = "--plot") -> None:
    """Raise InputError where the ending of a picture's name is neither .svg nor .png."""
    if path.suffix not in ENDINGS:
        raise InputError(f"Pictures end in {' or '.join(ENDINGS)}.", field=field, given=str(path))


def draw_figures(figures: Sequence[Figure], path: Path) -> None:
    """Draw `figures` into `path`, one below the other; its folder is made.

    Raises:
        InputError: The file's ending is neither .svg nor .png.
    """
    check_ending(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    from matplotlib import rc_context
    from matplotlib.figure import Figure as Picture

    with rc_context({"svg.hashsalt": "interlingua"}):  # the same figures, the same file
        picture = Picture(figsize=(7.0, 3.2 * len(figures)), layout="constrained")
        grid = picture.subplots(len(figures), 1, squeeze=False)
        for axes, figure in zip(grid[:, 0], figures, strict=True):
            axes.set_title(f"{figure.dataset}\n{figure.metric}: {figure.value:.1f}", fontsize=9)
            if figure.matrix:
                names = list(figure.matrix)
                cells = np.array([[figure.matrix[a].get(b, np.nan) for b in names] for a in names])
                axes.imshow(cells)
                axes.set_xticks(range(len(names)), names)
                axes.set_yticks(range(len(names)), names)
                for (row, column), value in np.ndenumerate(cells):
                    if np.isfinite(value):
                        axes.text(column, row, f"{value:.0f}", ha="center", va="center", color="w")
            else:
                bars = dict(figure.by_language) or {"": figure.value}
                axes.bar(list(bars), list(bars.values()))
        picture.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
