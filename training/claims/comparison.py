"""All systems side by side: the same text, the same measures, one picture."""

from __future__ import annotations

import hashlib
import json
import math
import statistics
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from training.claims import chidambaram, training_text, yu
from training.claims.claim import SEEDS
from training.claims.judge import provenance, train_all
from training.claims.li_systems import CAPTIONS, laser, ntdv, t_mde
from training.claims.news import SPEED, news, search
from training.claims.quantities import Quantity, measure_run
from training.claims.trained import System
from training.store import read_json, write_json

NAME = "comparison"

_TEXT = ("languages=en,de,fr", *training_text.CAPTIONS)

SYSTEMS: Mapping[str, System] = {
    "BiCVM+": System("bicvm", (*_TEXT, "iterations=20")),
    "Schwenk BLSTM 1:N": System(
        "schwenk",
        (
            *_TEXT,
            "strategy=1:N",
            "pieces=2000",
            "width=96",
            "embedding=64",
            "decoder_width=96",
            "longest=30",
            "rate=0.006",
            "steps=1400",
            "develop_every=1400",
        ),
    ),
    "Yu, translation alone": yu.system("similarity=0", read=yu.CAPTIONS),
    "Yu, similarity": yu.system(read=yu.CAPTIONS),
    "Chidambaram, ranking": chidambaram.RANKING,
    "Chidambaram, multi-task": chidambaram.MULTI,
    "Li cNV": ntdv("sum", 0.5, training_text.CAPTIONS),
    "LASER_1": laser(1, 0, CAPTIONS),
    "T-MDE": t_mde("pyramid=false", "beta=0", text=CAPTIONS),
    "cT-MDE": t_mde("pyramid=false", "beta=0.25", text=CAPTIONS),
    "cT-MDE_P": t_mde("pyramid=true", "beta=0.25", text=CAPTIONS),
}

_PAIR = "languages=en,de"

MEASURES: tuple[Quantity, ...] = (
    search(_PAIR, name="search error"),
    news("logistic", _PAIR, name="news, zero-shot"),
    Quantity(
        name="STS", protocol="sts", assignments=("correlation=pearson", _PAIR), unit="Pearson x 100"
    ),
    Quantity(name="XNLI, de", protocol="nli", assignments=(_PAIR,)),
    SPEED,
    Quantity(
        name="training", protocol="training-minutes", better="lower", unit="processor minutes"
    ),
    Quantity(name="serving", protocol="speed", assignments=(_PAIR,), unit="sentences/s"),
    Quantity(name="size", protocol="size", better="lower", unit="MB"),
)

_QUALITY = ("search error", "news, zero-shot", "STS", "XNLI, de")


def key() -> str:
    """Return sixteen hex digits that change when a system or a measure does."""
    described = [
        [name, *(system.seeded(seed).key for seed in SEEDS)] for name, system in SYSTEMS.items()
    ] + [[quantity.key, quantity.figure, quantity.part] for quantity in MEASURES]
    return hashlib.sha256(json.dumps(described).encode()).hexdigest()[:16]


def comparison_file(results: Path) -> Path:
    """Return where the comparison lies."""
    return results / f"{NAME}.json"


def is_stale(results: Path) -> bool:
    """Return whether there is no comparison, or one of other systems or measures."""
    path = comparison_file(results)
    return not path.exists() or read_json(path).get("key") != key()


def run_comparison(
    *,
    work: Path,
    data: Path,
    results: Path,
    workers: int = 1,
    say: Callable[[str], None] = lambda _: None,
) -> dict[str, object]:
    """Train and measure what is not yet, keep the table and draw the picture."""
    runs = [system.seeded(seed) for system in SYSTEMS.values() for seed in SEEDS]
    train_all(runs, work, data, workers=workers, say=say)
    rows: dict[str, dict[str, list[float]]] = {}
    for name, system in SYSTEMS.items():
        rows[name] = {quantity.name: [] for quantity in MEASURES}
        for seed in SEEDS:
            say(f"{name}, seed {seed}")
            for quantity in MEASURES:
                measured = measure_run(system.seeded(seed), quantity, work, data)
                rows[name][quantity.name].append(round(measured.value, 3))
    result: dict[str, object] = {
        "key": key(),
        "seeds": list(SEEDS),
        "units": {quantity.name: quantity.unit for quantity in MEASURES},
        "rows": rows,
        **provenance(),
    }
    draw_comparison(result, results / f"{NAME}.svg")
    write_json(comparison_file(results), result)
    return result


def quality(values: Mapping[str, list[float]]) -> float:
    """Return the mean of the quality measures, all in percent with more being better."""
    means = [statistics.mean(values[name]) for name in _QUALITY]
    return statistics.mean([100.0 - means[0], *means[1:]])


def draw_comparison(result: Mapping[str, Any], path: Path) -> None:
    """Draw quality against sentences a second into `path`."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    path.parent.mkdir(parents=True, exist_ok=True)
    with rc_context({"svg.hashsalt": "interlingua"}):  # the same figures, the same file
        picture = Figure(figsize=(7.0, 4.6), layout="constrained")
        axes = picture.add_subplot()
        places = {
            name: (statistics.mean(values["serving"]), quality(values))
            for name, values in result["rows"].items()
        }
        for name, (speed, best) in places.items():
            axes.plot(speed, best, "o", ms=6)
            below = any(
                0 < other - best < 1.5 and abs(math.log(beside / speed)) < 0.3
                for beside, other in places.values()
            )  # or two names would be one on the other
            away = (5, -11) if below else (5, 4)
            axes.annotate(name, (speed, best), xytext=away, textcoords="offset points", fontsize=8)
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.margins(x=0.35, y=0.08)
        axes.set_xlabel("sentences a second, served")
        axes.set_ylabel("mean of search, news, STS and XNLI, %")
        picture.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def comparison_section(results: Path) -> str:
    """Return the section of the page; what is to be run where nothing is."""
    lines = [
        "## Side by side",
        "",
        "All systems on the same captions and news, en and de measured, three seeds each. Steps "
        "are those of the claims, not equal time: processor minutes stand beside.",
        "",
    ]
    path = comparison_file(results)
    if not path.exists():
        return "\n".join([*lines, f"Not run yet: `interlingua reproduce {NAME} --data DATA`.", ""])
    result = read_json(path)
    units = result["units"]
    lines += [
        "| system | " + " | ".join(f"{name}, {unit}" for name, unit in units.items()) + " |",
        "|---|" + "---|" * len(units),
    ]
    for name, values in sorted(result["rows"].items(), key=lambda row: -quality(row[1])):
        cells = [_cell(values[measure]) for measure in units]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    lines += [
        "",
        f"![Quality against speed]({results.name}/{NAME}.svg)",
        "",
        f"Measured {result['measured']} on {result['machine']}, commit `{result['commit']}`: "
        f"`interlingua reproduce {NAME} --data DATA`.",
        "",
    ]
    return "\n".join(lines)


def _cell(values: list[float]) -> str:
    mean, spread = statistics.mean(values), statistics.stdev(values)
    return f"{mean:,.0f}" if abs(mean) >= 1000 else f"{mean:.1f} ± {spread:.1f}"
