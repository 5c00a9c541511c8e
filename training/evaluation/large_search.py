"""Similarity search among many sentences, through FAISS (Schwenk & Douze 2017, section 4.3).

The queries are rows of an n-way source; the index holds their translations and, besides, all
sentences of other sources in that language. Exact inner products of unit vectors, so the figure is
the model's and not the index's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from service.inference.session import Vectors
from training.data.folder import DataFolder
from training.data.lines import BrokenLines
from training.data.moses import find_moses, read_moses
from training.data.nway import find_nway, read_nway
from training.evaluation.figures import Figure, mean_figure
from training.evaluation.models import SentenceModel, vectors_of
from training.evaluation.nway_rows import NWayRows, vectors_by_language

NAME = "large-search"


def nearest(queries: Vectors, targets: Vectors, count: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Return cosines float32 and rows int64 [queries, count] of the nearest, best first.

    Args:
        queries: float32 [queries, D] of unit length.
        targets: float32 [targets, D] of unit length.
        count: How many.
    """
    import faiss

    index = faiss.IndexFlatIP(targets.shape[1])
    index.add(np.ascontiguousarray(targets, dtype=np.float32))
    cosines, rows = index.search(np.ascontiguousarray(queries, dtype=np.float32), count)
    return cosines, rows


@dataclass(frozen=True, slots=True, kw_only=True)
class LargeSearch(NWayRows):
    """What may be changed with `--set`."""

    crowd: tuple[str, ...] = ("bible_nt", "wmt_nway", "tatoeba")  # what else is in the index
    most: int = 100_000  # sentences of the crowd in each language

    def measure(self, model: SentenceModel, folder: Callable[[], DataFolder]) -> list[Figure]:
        """Return the error over all pairs of languages.

        Raises:
            InputError: A source or a language is missing.
        """
        opened = folder()
        columns = self.read(model, opened)
        languages = tuple(columns)
        queries = vectors_by_language(model, columns)
        errors: dict[str, dict[str, float]] = {language: {} for language in languages}
        sizes = []
        for target in languages:
            crowd = read_crowd(opened, self.crowd, target, known=set(columns[target]))
            everything = queries[target]
            if crowd:
                others = vectors_of(model, crowd[: self.most], target, unit=True)
                everything = np.concatenate([everything, others])
            sizes.append(len(everything))
            for query in languages:
                if query != target:
                    _, found = nearest(queries[query], everything)
                    wrong = found[:, 0] != np.arange(len(found))
                    errors[query][target] = 100.0 * float(wrong.mean())
        by_language = {query: sum(row.values()) / len(row) for query, row in errors.items()}
        return [
            mean_figure(
                NAME,
                f"{self.source}, {len(columns[languages[0]]):,} rows among "
                f"{min(sizes):,} to {max(sizes):,}",
                "search error over all pairs, %",
                by_language,
                errors,
            )
        ]


def read_crowd(
    folder: DataFolder, sources: tuple[str, ...], language: str, *, known: set[str]
) -> list[str]:
    """Return the distinct sentences of `language` in `sources` that are not `known`, in order.

    Raises:
        NotFoundError: There is no such source.
    """
    broken = BrokenLines("skip")
    found: dict[str, None] = {}
    for source in sources:
        path = folder.source(source)
        if language in find_nway(path):
            table = read_nway(path, languages=[language], broken=broken)
            found.update(dict.fromkeys(table.columns[language]))
        for files in find_moses(path):
            if language in (files.source, files.target):
                side = 0 if files.source == language else 1
                found.update(dict.fromkeys(pair[side] for pair in read_moses(files, broken)))
    return [text for text in found if text and text not in known]
