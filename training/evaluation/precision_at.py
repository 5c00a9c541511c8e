"""Retrieval of a translation among others: precision at N (Chidambaram et al. 2018, section 3.4).

"Performance is scored by checking if a source sentence's target translation ranks in the top N
scored candidates when considering K other randomly selected target sentences. We set K to 999."
Scores are dot products of the vectors as the model gives them; of equal scores the wrong ones count
as before the right one, so that a model of constants scores 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from service.errors import InputError
from service.inference.session import Vectors
from training.data.folder import DataFolder
from training.evaluation.figures import Figure, mean_figure
from training.evaluation.models import SentenceModel
from training.evaluation.nway_rows import NWayRows, vectors_by_language

NAME = "p-at-n"


def precision_at(
    queries: Vectors, targets: Vectors, *, best: int, others: int, seed: int = 0
) -> float:
    """Return in percent how often row i of `targets` is among the `best` for row i of `queries`.

    Args:
        queries: float32 [rows, D].
        targets: float32 [rows, D]; row i translates row i of `queries`.
        best: N.
        others: K, drawn anew for each query among the other rows.
        seed: Of the draws.
    """
    random = np.random.default_rng(seed)
    hits = 0
    for place, query in enumerate(queries):
        drawn = random.choice(len(targets) - 1, size=others, replace=False)
        drawn[drawn >= place] += 1
        right = float(query @ targets[place])
        hits += int((targets[drawn] @ query >= right).sum() < best)
    return 100.0 * hits / len(queries)


@dataclass(frozen=True, slots=True, kw_only=True)
class PrecisionAt(NWayRows):
    """What may be changed with `--set`."""

    pivot: str = "en"  # translations are looked for from this language
    best: int = 1  # N
    others: int = 999  # K; as many as there are where there are fewer
    seed: int = 0

    def __post_init__(self) -> None:
        NWayRows.__post_init__(self)
        if self.best < 1 or self.others < 1:
            raise ValueError("best and others are at least 1")

    def measure(self, model: SentenceModel, folder: Callable[[], DataFolder]) -> list[Figure]:
        """Return P@N from the pivot to each language.

        Raises:
            InputError: The source or a language is missing.
        """
        columns = self.read(model, folder())
        if self.pivot not in columns:
            raise InputError(
                f"The pivot is none of {', '.join(columns)}.", field="pivot", given=self.pivot
            )
        vectors = vectors_by_language(model, columns, unit=False)
        count = len(columns[self.pivot])
        others = min(self.others, count - 1)
        by_language = {
            language: precision_at(
                vectors[self.pivot],
                vectors[language],
                best=self.best,
                others=others,
                seed=self.seed,
            )
            for language in columns
            if language != self.pivot
        }
        return [
            mean_figure(
                NAME,
                f"{self.source}, {count:,} rows",
                f"P@{self.best} among {others + 1:,} from {self.pivot}, %",
                by_language,
            )
        ]
