"""What claims measure on a trained system: a figure of a protocol, its speed, its size."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from service.errors import InputError
from training.claims.trained import (
    Run,
    bundle_megabytes,
    train_run,
    training_minutes,
    training_speed,
)
from training.data.folder import DataFolder, open_folder
from training.evaluation.models import open_model
from training.evaluation.protocols import make_protocol
from training.store import read_json, write_json

Matrix = Mapping[str, Mapping[str, float]]
"""Query or source language -> target language -> value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """A number that is measured on each run of a system.

    Attributes:
        name: In the tables.
        protocol: Of `interlingua evaluate`; `training-speed` and `size` are read from the run.
        assignments: What is changed of the protocol.
        figure: Which of its figures, by its place.
        part: The language, task or pair (`en>de`) whose value is taken, in place of the mean; or
            `spread`, the greatest of all pairs as a multiple of the mean; or `best source`, the
            mean over targets of what the best source language gives.
        better: Whether more of it is better, or less.
        unit: Written after the number.
    """

    name: str
    protocol: str
    assignments: tuple[str, ...] = ()
    figure: int = 0
    part: str | None = None
    better: str = "higher"
    unit: str = "%"

    @property
    def key(self) -> str:
        """Of what is measured, all its figures together."""
        described = json.dumps([self.protocol, self.assignments])
        return hashlib.sha256(described.encode()).hexdigest()[:12]

    @property
    def command(self) -> str:
        """What measures it, the model left open."""
        if self.protocol in _READ:
            return f"read from the run: {self.protocol}"
        settings = "".join(f" --set {assignment}" for assignment in self.assignments)
        return f"interlingua evaluate --model RUN --protocol {self.protocol} --data DATA{settings}"


@dataclass(frozen=True, slots=True)
class Measured:
    """A quantity of one run.

    Attributes:
        value: The number.
        by_fold: The same in each rotation of the labelled text, where there are any.
    """

    value: float
    by_fold: tuple[float, ...] = ()


def _spread(matrix: Matrix) -> float:
    cells = [value for query, row in matrix.items() for t, value in row.items() if t != query]
    return max(cells) / max(sum(cells) / len(cells), 1e-9)


def _best_source(matrix: Matrix) -> float:
    targets = {target for row in matrix.values() for target in row}
    best = [
        max(row[target] for source, row in matrix.items() if target in row and source != target)
        for target in targets
    ]
    return sum(best) / len(best)


_OF_MATRIX: Mapping[str, Callable[[Matrix], float]] = {
    "spread": _spread,
    "best source": _best_source,
}

_READ: Mapping[str, Callable[[Path], float]] = {
    "training-speed": training_speed,
    "training-minutes": training_minutes,
    "size": bundle_megabytes,
}


def measure_run(run: Run, quantity: Quantity, work: Path, data: Path) -> Measured:
    """Return `quantity` of `run`, which is trained and measured where it was not before.

    Args:
        run: Of a system.
        quantity: What is measured.
        work: The ledger's directory, where figures are kept.
        data: The data folder.
    """
    place = figures_file(run, quantity, work, data)
    if not place.exists():
        directory = train_run(run, work, data)
        write_json(place, _measure(directory, quantity, data))
    return _pick(read_json(place), quantity)


def figures_file(run: Run, quantity: Quantity, work: Path, data: Path) -> Path:
    """Return where the figures of a quantity's protocol on `run` are kept.

    Another place for another data folder and for a protocol whose own settings have changed; what
    is read from the run knows neither.
    """
    place = f"{run.key}-{quantity.key}"
    if quantity.protocol not in _READ:
        settings = make_protocol(quantity.protocol, quantity.assignments)
        described = repr((settings, _text_of(data)))
        place += f"-{hashlib.sha256(described.encode()).hexdigest()[:12]}"
    return work / "figures" / f"{place}.json"


@cache  # thousands of files, and hundreds of figures that are measured on them
def _text_of(data: Path) -> str:
    return hashlib.sha256(repr(DataFolder(data).files()).encode()).hexdigest()


def _measure(directory: Path, quantity: Quantity, data: Path) -> dict[str, object]:
    if quantity.protocol in _READ:
        return {"figures": [{"value": _READ[quantity.protocol](directory)}]}
    protocol = make_protocol(quantity.protocol, quantity.assignments)
    figures = protocol.measure(open_model(directory), lambda: open_folder(data))
    return {"figures": [dataclasses.asdict(figure) for figure in figures]}


def _pick(content: Mapping[str, object], quantity: Quantity) -> Measured:
    figures = content["figures"]
    if not isinstance(figures, list) or quantity.figure >= len(figures):
        raise InputError(f"{quantity.protocol} gives no figure {quantity.figure}.")
    figure = figures[quantity.figure]
    if quantity.part is None:
        return Measured(float(figure["value"]), tuple(figure.get("by_fold", ())))
    if quantity.part in _OF_MATRIX:
        return Measured(_OF_MATRIX[quantity.part](figure["matrix"]))
    query, _, target = quantity.part.partition(">")
    if target:
        return Measured(float(figure["matrix"][query][target]))
    return Measured(float(figure["by_language"][quantity.part]))
