"""Near neighbours: lists for the eye, and whether a high cosine means a paraphrase.

Schwenk & Douze 2017, section 4.4, tables 5 to 8 show five nearest sentences with their cosines,
within a language (without the sentence itself) and across. What the tables claim is measured so:
of the nearest neighbours in another language, how often it is the translation among those whose
cosine is in the upper half, and among the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from service.inference.session import Vectors
from training.data.folder import DataFolder
from training.evaluation.figures import Figure, mean_figure
from training.evaluation.large_search import nearest
from training.evaluation.models import SentenceModel
from training.evaluation.nway_rows import NWayRows, vectors_by_language

NAME = "n-best"


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A sentence that was found, and its cosine with the query."""

    text: str
    cosine: float


def n_best(
    queries: Vectors, targets: Vectors, texts: Sequence[str], *, count: int, skip_own: bool
) -> list[list[Neighbour]]:
    """Return the nearest of `texts` to each query, best first.

    Args:
        queries: float32 [queries, D] of unit length.
        targets: float32 [targets, D] of unit length, of `texts`.
        texts: What is searched.
        count: How many.
        skip_own: Whether row i of both is the same sentence, which is left out.
    """
    cosines, rows = nearest(queries, targets, min(len(texts), count + skip_own))
    lists = []
    for number, (near, found) in enumerate(zip(cosines, rows, strict=True)):
        kept = [
            Neighbour(texts[row], float(cosine))
            for cosine, row in zip(near, found, strict=True)
            if not (skip_own and row == number)
        ]
        lists.append(kept[:count])
    return lists


def precision_by_cosine(queries: Vectors, targets: Vectors) -> tuple[float, float]:
    """Return in percent how often the nearest target is the right one: high cosines, low ones.

    Args:
        queries: float32 [rows, D] of unit length.
        targets: float32 [rows, D] of unit length; row i translates row i of `queries`.
    """
    cosines, rows = nearest(queries, targets)
    right = rows[:, 0] == np.arange(len(rows))
    order = np.argsort(-cosines[:, 0], kind="stable")
    half = len(order) // 2
    return 100.0 * float(right[order[:half]].mean()), 100.0 * float(right[order[half:]].mean())


@dataclass(frozen=True, slots=True, kw_only=True)
class NBest(NWayRows):
    """What may be changed with `--set`."""

    def measure(self, model: SentenceModel, folder: Callable[[], DataFolder]) -> list[Figure]:
        """Return the two precisions, means over ordered pairs of languages.

        Raises:
            InputError: The source or a language is missing.
        """
        columns = self.read(model, folder())
        languages = tuple(columns)
        vectors = vectors_by_language(model, columns)
        pairs = {
            f"{query}-{target}": precision_by_cosine(vectors[query], vectors[target])
            for query in languages
            for target in languages
            if query != target
        }
        dataset = f"{self.source}, {len(columns[languages[0]]):,} rows"
        return [
            mean_figure(
                NAME,
                dataset,
                f"nearest is the translation, {half} half of cosines, %",
                {name: pair[place] for name, pair in pairs.items()},
            )
            for place, half in enumerate(("upper", "lower"))
        ]
