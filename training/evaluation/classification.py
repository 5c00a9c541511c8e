"""Cross-lingual classification of documents or sentences.

A classifier is fitted on vectors of one language and measured in the others (Klementiev et al. 2012
and all who came after). "Cross" is the mean over all ordered pairs of different languages, "Same"
that of each language with itself (Li 2021, table 4.3).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from training.data.folder import DataFolder
from training.evaluation.classifiers import (
    Examples,
    Kind,
    accuracy_of,
    fit_classifier,
    is_tuned,
)
from training.evaluation.documents import Pooling, Segments, document_vectors
from training.evaluation.figures import Figure
from training.evaluation.labelled_documents import LabelledSet, read_labelled_sets
from training.evaluation.models import SentenceModel, require_languages
from training.evaluation.splits import Places, Split, Splitting, Transfer, splits

NAME = "classification"

_ALL = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Classification:
    """What may be changed with `--set`."""

    sets: tuple[str, ...] = ("sib200",)  # under eval/; the first that has a language gives it
    languages: tuple[str, ...] = ()  # the model's where none
    classifier: Kind = "logistic"
    segments: Segments = "punctuation"
    pooling: Pooling = "mean"
    transfer: Transfer = "zero-shot"
    documents: int | None = None  # to fit and tune on in each language; all where none
    folds: int = 1  # more: rotations of the texts to fit on
    orders: int = 1  # that they are rotated in; the mean over them
    column: str = "label"
    seed: int = 0

    def __post_init__(self) -> None:
        if self.transfer == "targeted" and not is_tuned(self.classifier):
            raise ValueError(
                f"transfer=targeted tunes on the target language, and {self.classifier} chooses "
                "nothing; take zero-shot, or a classifier that is tuned"
            )
        if self.folds < 1 or (self.documents is not None and self.documents < 2):
            raise ValueError("folds are at least 1, and documents none or at least 2")
        if self.orders < 1 or (self.orders > 1 and self.folds == 1):
            raise ValueError("orders are at least 1, and more are of texts that are rotated: folds")

    def measure(self, model: SentenceModel, folder: Callable[[], DataFolder]) -> list[Figure]:
        """Return "Cross" with the matrix of languages, and "Same" where it is measured.

        Raises:
            InputError: A set or a language is missing, or has no labels in common with the others.
        """
        languages = require_languages(model, self.languages, least=2)
        sets = read_labelled_sets(folder(), self.sets, languages, column=self.column)
        rows = self._vectors(model, sets)
        reached: dict[tuple[str, str], list[float]] = defaultdict(list)
        by_fold: dict[tuple[int, int], list[float]] = defaultdict(list)
        for order in range(self.orders):
            plan = Splitting(
                transfer=self.transfer,
                documents=self.documents,
                tuned=is_tuned(self.classifier),
                folds=self.folds,
                seed=self.seed + order,
            )
            for split in splits(sets, plan):
                for target, accuracy in self._classify(split, rows, seed=plan.seed):
                    reached[split.source, target].append(accuracy)
                    if split.source != target:
                        by_fold[order, split.fold].append(accuracy)
        means = {pair: float(np.mean(values)) for pair, values in reached.items()}
        folds = tuple(float(np.mean(values)) for _, values in sorted(by_fold.items()))
        return self._figures(languages, means, folds if self.folds > 1 else ())

    def _vectors(
        self, model: SentenceModel, sets: Mapping[str, LabelledSet]
    ) -> dict[tuple[str, str], np.ndarray]:
        """Return the vector of each text by its language and words."""
        rows: dict[tuple[str, str], np.ndarray] = {}
        for language, texts in sets.items():
            distinct = list(dict.fromkeys(document.text for document in texts.train + texts.test))
            vectors = document_vectors(
                model, distinct, language, segments=self.segments, pooling=self.pooling
            )
            rows.update(
                {(language, text): row for text, row in zip(distinct, vectors, strict=True)}
            )
        return rows

    def _classify(
        self, split: Split, rows: Mapping[tuple[str, str], np.ndarray], *, seed: int
    ) -> list[tuple[str, float]]:
        classifier = fit_classifier(
            self.classifier,
            examples(split.fit, rows),
            examples(split.tune, rows) if split.tune else None,
            seed=seed,
        )
        return [
            (target, accuracy_of(classifier, examples(places, rows)))
            for target, places in split.test.items()
        ]

    def _figures(
        self,
        languages: Sequence[str],
        means: Mapping[tuple[str, str], float],
        folds: tuple[float, ...],
    ) -> list[Figure]:
        matrix: dict[str, dict[str, float]] = {}
        for (source, target), value in means.items():
            matrix.setdefault(source, {})[target] = value
        figures = []
        for name, chosen in (
            ("cross", {pair: value for pair, value in means.items() if pair[0] != pair[1]}),
            ("same", {pair: value for pair, value in means.items() if pair[0] == pair[1]}),
        ):
            if not chosen:
                continue
            by_target = {
                language: [value for (_, target), value in chosen.items() if target == language]
                for language in languages
            }
            figures.append(
                Figure(
                    protocol=NAME,
                    dataset=f"{'+'.join(self.sets)}, {self.transfer}, {self.classifier}, "
                    f"{self.segments} x {self.pooling}",
                    metric=f"accuracy, {name} languages, %",
                    value=sum(chosen.values()) / len(chosen),
                    by_language={
                        language: sum(values) / len(values)
                        for language, values in by_target.items()
                        if values
                    },
                    matrix=matrix if name == "cross" and _ALL not in matrix else {},
                    by_fold=folds if name == "cross" else (),
                )
            )
        return figures


def examples(places: Places, rows: Mapping[tuple[str, str], np.ndarray]) -> Examples:
    """Return the vectors and labels of texts, whose vectors are in `rows`."""
    return Examples(
        np.stack([rows[language, document.text] for language, document in places]),
        [document.label for _, document in places],
    )
