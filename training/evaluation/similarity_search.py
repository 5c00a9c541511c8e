"""Multilingual similarity search: error over all pairs of languages, and the matrix of them.

Schwenk & Douze 2017, algorithm 1: for each sentence of each language the nearest of all sentences
of each other language by cosine; an error where that is not its translation. Yu et al. 2018, table
2, print the same as an accuracy in a matrix of languages. The papers of which this is the measure
average over pairs; so does `value`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from service.errors import InputError
from training.data.folder import DataFolder
from training.evaluation.figures import Figure, mean_figure
from training.evaluation.models import SentenceModel, open_partner
from training.evaluation.nway_rows import NWayRows, Rows, vectors_by_language
from training.evaluation.retrieval import accuracy

NAME = "search"


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilaritySearch(NWayRows):
    """What may be changed with `--set`."""

    rows: Rows = (700, 10_000_000)  # from, below
    partner: str = ""  # a model of the same space whose vectors, of its languages, are searched

    def measure(self, model: SentenceModel, folder: Callable[[], DataFolder]) -> list[Figure]:
        """Return the error; `by_language` is that of each as the query, the matrix that of pairs.

        Raises:
            InputError: The source or a language is missing.
        """
        columns = self.read(model, folder())
        languages = tuple(columns)
        vectors = vectors_by_language(model, columns)
        searched, by = vectors, ""
        if self.partner:
            partner = open_partner(self.partner, model)
            known = {name: columns[name] for name in languages if name in partner.languages}
            if not known:
                raise InputError(
                    f"{partner.name} was trained for none of {', '.join(languages)}.",
                    field="partner",
                    given=self.partner,
                    remedy="Name a model of the same space that says which languages it knows.",
                )
            searched, by = vectors_by_language(partner, known), f", searched by {partner.name}"
        matrix = {
            query: {
                target: 100.0 - accuracy(vectors[query], searched[target])
                for target in searched
                if target != query
            }
            for query in languages
            if set(searched) - {query}
        }
        by_language = {query: sum(row.values()) / len(row) for query, row in matrix.items()}
        return [
            mean_figure(
                NAME,
                f"{self.source}, {len(columns[languages[0]]):,} rows{by}",
                "search error over all pairs, %",
                by_language,
                matrix,
            )
        ]
