"""Few-shot curves: accuracy against how much labelled text there is.

- over the texts of the source language, measured in the target (Hermann & Blunsom 2013, figure 2)
- over the part of the target's own texts that is added to all of the source's, beside all of the
  target's alone (Chidambaram et al. 2018, section 4.2, table 6)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from service.errors import InputError
from training.data.folder import DataFolder
from training.evaluation.classification import examples
from training.evaluation.classifiers import Kind, accuracy_of, fit_classifier, is_tuned
from training.evaluation.documents import Segments, document_vectors
from training.evaluation.figures import Figure, mean_figure
from training.evaluation.labelled_documents import Document, LabelledSet, read_labelled_sets, spread
from training.evaluation.models import SentenceModel, require_languages

NAME = "few-shot"


@dataclass(frozen=True, slots=True, kw_only=True)
class FewShot:
    """What may be changed with `--set`."""

    sets: tuple[str, ...] = ("sentiment_umsab",)
    source: str = "en"
    languages: tuple[str, ...] = ()  # targets; the model's others where none
    sizes: tuple[int, ...] = ()  # texts of the source; all where none ...
    parts: tuple[int, ...] = (0, 10, 20, 40, 80, 100)  # ... and percent of the target's besides
    classifier: Kind = "logistic"
    segments: Segments = "punctuation"
    tuned_on: int = 5  # one text of so many, but by the perceptron; the others are fitted on
    draws: int = 3  # of the texts that are taken
    seed: int = 0

    def __post_init__(self) -> None:
        if self.tuned_on < 2:
            raise ValueError("tuned_on is two or more: what is tuned on is not fitted on")
        if self.draws < 1 or 0 in self.sizes or max(self.parts, default=0) > 100:
            raise ValueError("draws and sizes are at least 1, and parts are percents")

    def measure(self, model: SentenceModel, folder: Callable[[], DataFolder]) -> list[Figure]:
        """Return the accuracy in the mean of the targets, by size or part.

        Raises:
            InputError: A set or language is missing, or has fewer texts than a size.
        """
        known = require_languages(model, (self.source, *self.languages) if self.languages else ())
        targets = tuple(name for name in known if name != self.source)
        if not targets:
            raise InputError(
                f"Accuracy is measured in other languages than {self.source}.",
                field="languages",
                given=",".join(known),
                remedy="Name a target, or take another --set source=LANGUAGE.",
            )
        sets = read_labelled_sets(folder(), self.sets, (self.source, *targets))
        rows: dict[tuple[str, str], np.ndarray] = {}
        for language, texts in sets.items():
            documents = [document.text for document in texts.train + texts.test]
            vectors = document_vectors(model, documents, language, segments=self.segments)
            rows.update({(language, t): v for t, v in zip(documents, vectors, strict=True)})
        curve = self._by_size if self.sizes else self._by_part
        measured = {target: curve(sets, rows, target) for target in targets}
        points = list(measured[targets[0]])
        axis = f"texts in {self.source}" if self.sizes else "of the target's texts"
        return [
            mean_figure(
                NAME,
                f"{'+'.join(self.sets)}, {self.classifier}",
                f"accuracy with {point} {axis}, %",
                {target: measured[target][point] for target in targets},
            )
            for point in points
        ]

    def _by_size(
        self,
        sets: Mapping[str, LabelledSet],
        rows: Mapping[tuple[str, str], np.ndarray],
        target: str,
    ) -> dict[str, float]:
        most = len(sets[self.source].train)
        if max(self.sizes) > most:
            raise InputError(
                f"There are {most:,} texts in {self.source}.", field="sizes", given=self.sizes
            )
        return {
            f"{size:,}": self._mean(sets, rows, target, partial(self._source, sets, size=size))
            for size in self.sizes
        }

    def _by_part(
        self,
        sets: Mapping[str, LabelledSet],
        rows: Mapping[tuple[str, str], np.ndarray],
        target: str,
    ) -> dict[str, float]:
        def added(seed: int, *, part: int, alone: bool = False) -> list[tuple[str, Document]]:
            own = spread(sets[target].train, seed=seed)
            chosen = [(target, document) for document in own[: len(own) * part // 100]]
            return chosen if alone else self._source(sets, seed, size=None) + chosen

        curve = {
            f"{part} %": self._mean(sets, rows, target, partial(added, part=part))
            for part in self.parts
        }
        curve["100 %, without the source,"] = self._mean(
            sets, rows, target, partial(added, part=100, alone=True)
        )
        return curve

    def _source(
        self, sets: Mapping[str, LabelledSet], seed: int, *, size: int | None
    ) -> list[tuple[str, Document]]:
        return [
            (self.source, document)
            for document in spread(sets[self.source].train, seed=seed)[:size]
        ]

    def _mean(
        self,
        sets: Mapping[str, LabelledSet],
        rows: Mapping[tuple[str, str], np.ndarray],
        target: str,
        choose: Callable[[int], Sequence[tuple[str, Document]]],
    ) -> float:
        reached = []
        for draw in range(self.draws):
            chosen = list(choose(self.seed + draw))
            tuned = is_tuned(self.classifier)
            # Evenly, so that what is tuned on has both languages where there are two.
            tune = chosen[:: self.tuned_on] if tuned else []
            fit = [one for i, one in enumerate(chosen) if i % self.tuned_on or not tuned]
            known = {document.key for _, document in chosen}
            test = [
                (target, document) for document in sets[target].test if document.key not in known
            ]
            if not test:
                raise InputError(
                    f"{'+'.join(self.sets)} has no texts to measure on.",
                    field="languages",
                    given=target,
                )
            classifier = fit_classifier(
                self.classifier,
                examples(fit, rows),
                examples(tune, rows) if tune else None,
                seed=self.seed + draw,
            )
            reached.append(accuracy_of(classifier, examples(test, rows)))
        return sum(reached) / len(reached)
