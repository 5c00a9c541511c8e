"""Measured figures: for people as a table, for the bundle's manifest, and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from service.bundle.manifest import Measurement
from training.tables import format_table


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One figure of a protocol, in percent or points of 100.

    Attributes:
        protocol: By its name on the command line.
        dataset: What it was measured on.
        metric: What the number is.
        value: The mean over languages.
        by_language: The value of each.
        matrix: Query language -> target language -> value, where the protocol has one.
        by_fold: The value of each rotation, where there are several.
    """

    protocol: str
    dataset: str
    metric: str
    value: float
    by_language: Mapping[str, float] = field(default_factory=dict)
    matrix: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    by_fold: tuple[float, ...] = ()

    def measurement(self, *, command: str, machine: str) -> Measurement:
        """Return the manifest's record of this figure."""
        return Measurement(
            protocol=self.protocol,
            dataset=self.dataset,
            metric=self.metric,
            value=round(self.value, 2),
            by_language={name: round(value, 2) for name, value in self.by_language.items()},
            command=command,
            machine=machine,
        )


def mean_figure(
    protocol: str,
    dataset: str,
    metric: str,
    by_language: Mapping[str, float],
    matrix: Mapping[str, Mapping[str, float]] | None = None,
) -> Figure:
    """Return the figure whose value is the mean over `by_language`, of which there is one."""
    return Figure(
        protocol=protocol,
        dataset=dataset,
        metric=metric,
        value=sum(by_language.values()) / len(by_language),
        by_language=by_language,
        matrix=matrix or {},
    )


def figures_table(figures: Sequence[Figure]) -> str:
    """Return the figures as text: a line each, then by language, then the matrices."""
    header = ["protocol", "data", "metric", "value"]
    rows = [[f.protocol, f.dataset, f.metric, f"{f.value:.2f}"] for f in figures]
    blocks = [format_table(header, rows)]
    for figure in figures:
        if figure.by_language:
            line = ", ".join(f"{name} {value:.1f}" for name, value in figure.by_language.items())
            blocks.append(f"{figure.protocol}, {figure.metric}: {line}")
        if figure.matrix:
            targets = list(figure.matrix)
            cells = [
                [query, *(f"{row[t]:.1f}" if t in row else "" for t in targets)]
                for query, row in figure.matrix.items()
            ]
            blocks.append(format_table(["from\\to", *targets], cells))
    return "\n\n".join(blocks)
