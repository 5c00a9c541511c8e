"""What an entry of the ledger is."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from training.claims.quantities import Quantity
from training.claims.trained import Run, System
from training.claims.verdict import SECOND_LOOK_LEVEL
from training.evaluation.significance import LEVEL

Relation = Literal["better", "far better", "not worse", "at least", "at most", "better by fold"]

SEEDS = (0, 1, 2)
FIVE_SEEDS = (0, 1, 2, 3, 4)
"""Of claims that three left undecided, and that are looked at a second time."""

THREE_NEW_SEEDS = (10, 11, 12)
SIX_NEW_SEEDS = (10, 11, 12, 13, 14, 15)
"""Of claims that are tried anew with other settings or another rule: none that was looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One comparison that a claim consists of.

    Attributes:
        says: In words.
        quantity: What is compared.
        first: The system that is claimed to be better, not worse, or to reach the bound.
        second: The other one; none where a number is the bound.
        against: Another quantity that `first` is compared with, measured on `second`, or on
            `first` itself where there is no second.
        relation: Which of the rules of `training.claims.verdict`.
        bound: Half of the smallest difference that is quoted of the paper for `far better`, the
            margin of `not worse`, the bound of `at least` and `at most`.
        learnt: What the mean of both sides must be better than, where there is such a figure: to
            be better than a system that has learnt nothing yet decides nothing.
        learnt_by: Of what `learnt` is a figure; of what is compared where None.
        shared: Whether the two systems of a seed stand over the same trained parts, so that they
            rise and fall together and are paired.
    """

    says: str
    quantity: Quantity
    first: str
    second: str | None = None
    against: Quantity | None = None
    relation: Relation = "better"
    bound: float = 0.0
    learnt: float | None = None
    learnt_by: Quantity | None = None
    shared: bool = False

    @property
    def cells(self) -> tuple[tuple[str, Quantity], ...]:
        """The systems and quantities that are measured, what is claimed to be better first."""
        other = self.against or self.quantity
        if self.second is None and self.against is None:
            return ((self.first, self.quantity),)
        return ((self.first, self.quantity), (self.second or self.first, other))

    @property
    def learnt_cells(self) -> tuple[tuple[str, Quantity], ...]:
        """The systems and quantities that say whether both sides have learnt; none if none do."""
        if self.learnt is None:
            return ()
        return tuple((system, self.learnt_by or quantity) for system, quantity in self.cells)

    @property
    def is_paired(self) -> bool:
        """Whether the sides are compared seed by seed, since they are not independent."""
        same_runs = self.against is not None and self.second in (None, self.first)
        return same_runs or self.shared


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """An entry.

    Attributes:
        id: Such as `S1`.
        paper: Authors and year.
        says: The claim.
        figures: The paper's.
        where: In the paper.
        data: What stands in for the paper's corpora.
        systems: Name -> system.
        parts: What is compared.
        also: Quantities that are shown beside, of every system.
        scale: What would change at the paper's size, and what this size cannot show.
        seeds: Of the runs.
        looks: How often a verdict is formed on these seeds: twice where three of them left it
            undecided.
        map: Whether a t-SNE map is drawn, and of what.
    """

    id: str
    paper: str
    says: str
    figures: str
    where: str
    data: str
    systems: Mapping[str, System]
    parts: tuple[Part, ...]
    also: tuple[Quantity, ...] = field(default=())
    scale: str = ""
    seeds: tuple[int, ...] = SEEDS
    looks: Literal[1, 2] = 1
    map: Quantity | None = None

    @property
    def level(self) -> float:
        """Of its tests: see `training.claims.verdict`."""
        return LEVEL if self.looks == 1 else SECOND_LOOK_LEVEL

    def cells(self) -> list[tuple[str, Quantity]]:
        """Return every system and quantity that is measured, each once, in order."""
        found = [cell for part in self.parts for cell in (*part.cells, *part.learnt_cells)]
        found += [(name, quantity) for name in self.systems for quantity in self.also]
        return list(dict.fromkeys(found))

    def runs(self) -> list[Run]:
        """Return the runs, system by system.

        Runs of one seed may have a stage in common, and would wait for each other side by side.
        """
        return [self.systems[name].seeded(seed) for name in self._needed() for seed in self.seeds]

    def _needed(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for name, _ in self.cells()))

    def key(self) -> str:
        """Return sixteen hex digits that change when anything that is measured or judged does."""
        needed = self._needed()
        described = [
            [
                [name, quantity.key, quantity.figure, quantity.part]
                for name, quantity in self.cells()
            ],
            [self.systems[n].seeded(s).key for s in self.seeds for n in needed],
            [[part.relation, part.bound, part.quantity.better] for part in self.parts],
            [part.learnt for part in self.parts if part.learnt is not None],
        ]
        # Only where there are any: elsewhere nothing is judged in another way than before.
        if paired := [index for index, part in enumerate(self.parts) if part.is_paired]:
            described.append(paired)
        return hashlib.sha256(json.dumps(described).encode()).hexdigest()[:16]

    @property
    def command(self) -> str:
        """What runs it from data to verdict."""
        return f"interlingua reproduce {self.id} --data DATA"
