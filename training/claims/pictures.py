"""Pictures of results: a bar a system with its seeds, and the maps of H4 and Y6."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from training.claims.claim import Claim
from training.claims.trained import train_run
from training.data.folder import open_folder
from training.evaluation.models import open_model
from training.evaluation.protocols import make_protocol

_MOST_BARS = 12


def draw_result(result: Mapping[str, Any], path: Path) -> None:
    """Draw the figures of a result into `path`: means as bars, seeds as dots."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    rows = result["figures"][:_MOST_BARS]
    names = [f"{row['system']}\n{row['quantity']}" for row in rows]
    means = [statistics.mean(row["values"]) for row in rows]
    with rc_context({"svg.hashsalt": "interlingua"}):  # the same figures, the same file
        picture = Figure(figsize=(7.0, 0.6 + 0.45 * len(rows)), layout="constrained")
        axes = picture.add_subplot()
        axes.barh(names, means, color="#9db8d9")
        for place, row in enumerate(rows):
            axes.plot(row["values"], [place] * len(row["values"]), "o", color="#1f3f66", ms=3)
        axes.invert_yaxis()
        axes.tick_params(labelsize=7)
        axes.set_title(f"{result['id']}: {result['verdict']}", fontsize=9)
        picture.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def draw_claim(
    claim: Claim, result: Mapping[str, Any], results: Path, *, work: Path, data: Path
) -> None:
    """Draw the picture of a claim beside its result: the map where it is about one."""
    path = results / f"{claim.id}.svg"
    if claim.map is None:
        draw_result(result, path)
        return
    system = next(iter(claim.systems.values()))
    directory = train_run(system.seeded(claim.seeds[0]), work, data)
    protocol = make_protocol(claim.map.protocol, (*claim.map.assignments, f"picture={path}"))
    protocol.measure(open_model(directory), lambda: open_folder(data))
