"""What models know against what they take: bytes on disk, and sentences a second.

    python -m benchmarks.quality_map --data DIR --out docs/quality-map.png MODEL ...

Each MODEL is started as it is served: Tatoeba accuracy in the mean of 15 languages with English,
STS benchmark dev in the mean of 11 languages, bytes on disk, and sentences of the demo corpus a
second over HTTP (64 a request, 4 clients). `published_quality.tsv` beside this file has what is
reported of others, on whole test sets and not on the halves that are measured here. Of those no
speed is known on this machine, so the first panels alone have them.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.arguments import above_zero, existing_folder, result_file
from benchmarks.serving import CLIENTS, demo_texts, embed_body, machine, over_http, running_server
from training.data.folder import DataFolder, open_folder
from training.evaluation.models import open_model
from training.evaluation.protocols import make_protocol
from training.tables import format_table

_LANGUAGES = {
    "tatoeba": "de,fr,es,it,ru,zh,ja,ar,pt,nl,pl,tr,ko,hi,vi",
    "sts": "en,de,es,fr,it,ja,nl,pl,pt,ru,zh",
}
_SAID = {"tatoeba": "Tatoeba, %", "sts": "STS benchmark, Spearman"}
_OWN = "interlingua"


@dataclass(frozen=True, slots=True)
class Place:
    """A model: its figures by protocol, and what it takes; no speed where none was measured."""

    name: str
    megabytes: float
    quality: dict[str, float]
    speed: float | None


def main() -> None:
    """Measure, print and draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", type=existing_folder, nargs="+")
    parser.add_argument("--data", type=existing_folder, required=True)
    parser.add_argument("--out", type=result_file, required=True)
    parser.add_argument(
        "--seconds", type=above_zero, default=10.0, help="of the measurement of speed"
    )
    options = parser.parse_args()
    folder = open_folder(options.data)
    print(f"machine: {machine()}")
    places = [measure(model, folder, options.seconds) for model in options.models]
    rows = [
        (
            place.name,
            f"{place.megabytes:,.1f}",
            *(f"{place.quality[name]:.1f}" for name in _LANGUAGES),
            "" if place.speed is None else f"{place.speed:,.0f}",
        )
        for place in [*places, *published()]
    ]
    print(format_table(("model", "MB", *_SAID.values(), "sentences/s"), rows))
    draw([*places, *published()], options.out)


def measure(model: Path, folder: DataFolder, seconds: float) -> Place:
    """Return where `model` stands, asked through a server of its own."""
    texts = demo_texts()
    with running_server(model) as (port, _, _):
        served = open_model(f"http://127.0.0.1:{port}")
        quality = {}
        for name, languages in _LANGUAGES.items():
            protocol = make_protocol(name, [f"languages={languages}"])
            quality[name] = protocol.measure(served, lambda: folder)[0].value
        over_http(port, texts, seconds / 5, "/embed", CLIENTS, embed_body)  # warm
        speed = over_http(port, texts, seconds, "/embed", CLIENTS, embed_body)
    size = sum(file.stat().st_size for file in model.rglob("*") if file.is_file())
    return Place(model.name, size / 1e6, quality, speed)


def published() -> list[Place]:
    """Return what is reported of other models."""
    with (Path(__file__).parent / "published_quality.tsv").open(encoding="utf-8") as file:
        return [
            Place(
                row["model"],
                float(row["megabytes"]),
                {name: float(row[name]) for name in _LANGUAGES},
                None,
            )
            for row in csv.DictReader(file, delimiter="\t")
        ]


def draw(places: Sequence[Place], path: Path) -> None:
    """Draw a row of panels a protocol: over megabytes, and over sentences a second."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(
        len(_LANGUAGES), 2, figsize=(9, 6), sharey="row", layout="constrained"
    )
    for row, name in zip(panels, _LANGUAGES, strict=True):
        for place in places:
            own = place.name.startswith(_OWN)
            look = {"color": "#c8553d" if own else "#1b6ca8", "marker": "o" if own else "s"}
            for panel, across in zip(row, (place.megabytes, place.speed), strict=True):
                if across is not None:
                    panel.plot(across, place.quality[name], **look)
                    panel.annotate(
                        place.name,
                        (across, place.quality[name]),
                        textcoords="offset points",
                        xytext=(0, 6),
                        ha="center",
                        fontsize=7,
                    )
        row[0].set(ylabel=_SAID[name], xscale="log")
        row[1].set(xscale="log")
        for panel in row:
            panel.grid(alpha=0.3)
            panel.margins(x=0.25, y=0.2)
    panels[-1][0].set_xlabel("MB on disk")
    panels[-1][1].set_xlabel("sentences a second, two cores, over HTTP")
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    main()
