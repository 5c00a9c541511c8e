"""Where the time of a request of one short text goes, seen from its client.

    python -m benchmarks.servers.phases [--checkout DIR] [--out PICTURE]

One client and 64 of them, each with one text at a time, all-MiniLM-L6-v2 as it is served. The
answers say how long tokens and the queue took, and the text's share of its batch
(`server-timing`). What is left of the server's own total is the other texts of that batch, where
there are any, and reading, answering and counting; what is left of the client's is the way there
and back, in which the request waits for the server to look at it. Means, so that they add up.
With --checkout another version of the source is measured in turn with this one.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from benchmarks.arguments import above_zero, result_file, whole_number
from benchmarks.servers.client import closed_loop, measure
from benchmarks.servers.models import WORK, prepare_models
from benchmarks.servers.peers import Peer
from benchmarks.servers.processes import running
from benchmarks.servers.texts import short_texts
from benchmarks.servers.versions import checkout, in_turn
from benchmarks.serving import machine

CLIENTS = (1, 64)
PHASES = ("tokens", "queue", "its share of the model", "its batch, and the rest", "there and back")
_TIMING = re.compile(r"(\w+);dur=([\d.]+)")

Spent = Mapping[str, float]
"""Milliseconds of a request, by phase."""


def main() -> None:
    """Measure, print and draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=Path, default=WORK / "models")
    parser.add_argument("--checkout", type=checkout, help="another version of the source")
    parser.add_argument("--out", type=result_file, help="a picture, .svg or .png")
    parser.add_argument("--seconds", type=above_zero, default=3.0, help="of each measurement")
    parser.add_argument("--repeats", type=whole_number, default=5)
    options = parser.parse_args()
    models = options.models.resolve()
    prepare_models(models)
    found = in_turn(
        options.checkout,
        lambda peer: _measure(peer, models, options.seconds),
        names=("before", "now"),
        repeats=options.repeats,
    )
    means = {
        key: {phase: float(np.mean([one[phase] for one in spent])) for phase in PHASES}
        for key, spent in sorted(found.items())
    }
    print(f"machine: {machine()}; means of {options.repeats}, ms\n")
    print(f"{'clients':>7} {'':8}" + "".join(f"{phase:>25}" for phase in PHASES) + f"{'all':>10}")
    for (clients, version), spent in means.items():
        cells = "".join(f"{spent[phase]:25.2f}" for phase in PHASES)
        print(f"{clients:7} {version:8}{cells}{sum(spent.values()):10.2f}")
    if options.out:
        draw(means, options.out)


def phases(told: Sequence[tuple[float, str]]) -> Spent:
    """Return the mean of each phase.

    Args:
        told: Of each answer its client's milliseconds, and what its `server-timing` said.
    """
    rows = []
    for whole, line in told:
        said = {name: float(value) for name, value in _TIMING.findall(line)}
        known = [said["tokenization"], said["queue"], said["inference"]]
        rows.append([*known, said["total"] - sum(known), whole - said["total"]])
    return dict(zip(PHASES, np.mean(rows, axis=0).tolist(), strict=True))


def draw(means: Mapping[tuple[int, str], Spent], path: Path) -> None:
    """Draw a bar for each of `means`, those of as many clients in a panel of their own."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    panels = sorted({clients for clients, _ in means})
    with rc_context({"svg.hashsalt": "interlingua"}):
        picture = Figure(figsize=(7.0, 1.6 * len(panels) + 0.8), layout="constrained")
        grid = picture.subplots(len(panels), 1, squeeze=False)
        for axes, clients in zip(grid[:, 0], panels, strict=True):
            bars = {version: spent for (n, version), spent in means.items() if n == clients}
            left = np.zeros(len(bars))
            for phase in PHASES:
                widths = [spent[phase] for spent in bars.values()]
                axes.barh(list(bars), widths, left=left, label=phase)
                left += widths
            axes.invert_yaxis()
            axes.set_title(f"{clients} client{'s' if clients > 1 else ''}", fontsize=9)
        axes.set_xlabel("milliseconds of a request of one short text")
        picture.legend(*axes.get_legend_handles_labels(), loc="outside upper center", ncols=5,
                       fontsize=8)  # fmt: skip
        picture.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def _measure(peer: Peer, models: Path, seconds: float) -> dict[int, Spent]:
    requests = [peer.request([text]) for text in short_texts(4000)]
    with running(peer, environments=Path(), models=models) as server:
        found = {}
        for clients in CLIENTS:
            told: list[tuple[float, str]] = []
            measure(closed_loop(server.port, requests, clients=clients, seconds=seconds / 3))
            measure(closed_loop(server.port, requests, clients=clients, seconds=seconds, told=told))
            found[clients] = phases(told)
        return found


if __name__ == "__main__":
    main()
