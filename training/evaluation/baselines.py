"""What a cross-lingual classifier has to beat: the majority class, and glossed words.

Klementiev et al. 2012, section 5; Hermann & Blunsom 2013, table 1. "Glossed" replaces each word of
the text to be classified by its most likely translation; the classifier, an averaged perceptron on
tf-idf of words, is fitted on the source language. The dictionary is made of parallel text by Dice's
coefficient: of all words of the source language, the one that a word shares most pairs with,
relative to how many they have.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from service.errors import InputError
from training.data.folder import DataFolder
from training.data.lines import BrokenLines
from training.data.moses import find_moses, read_moses
from training.data.nway import find_nway, read_nway
from training.evaluation.classifiers import Examples, accuracy_of, fit_classifier
from training.evaluation.figures import Figure
from training.evaluation.labelled_documents import Document, read_labelled_sets
from training.evaluation.models import SentenceModel, require_languages

NAME = "baseline"

_WORD = re.compile(r"\w+")

Pairs = Iterator[tuple[str, str]]


def words_of(text: str) -> list[str]:
    """Return the words of `text` in lower case."""
    return _WORD.findall(text.lower())


def dice_dictionary(pairs: Pairs, *, least: int = 2) -> dict[str, str]:
    """Return for each word of the first sentences the word of the second that goes with it best.

    Args:
        pairs: Sentences and their translations.
        least: Pairs that two words must share.
    """
    from sklearn.feature_extraction.text import CountVectorizer

    first, second = zip(*pairs, strict=True)
    counters = [CountVectorizer(analyzer=_distinct, binary=True, min_df=least) for _ in range(2)]
    left, right = (
        counter.fit_transform(texts).astype(np.float32)
        for counter, texts in zip(counters, (first, second), strict=True)
    )
    together = (left.T @ right).tocoo()
    counts = [np.asarray(side.sum(0)).ravel() for side in (left, right)]
    dice = 2 * together.data / (counts[0][together.row] + counts[1][together.col])
    names = [counter.get_feature_names_out() for counter in counters]
    best: dict[str, tuple[float, str]] = {}
    for row, column, score, shared in zip(
        together.row, together.col, dice, together.data, strict=True
    ):
        word = str(names[0][row])
        if shared >= least and score > best.get(word, (0.0, ""))[0]:
            best[word] = float(score), str(names[1][column])
    return {word: translation for word, (_, translation) in best.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """What may be changed with `--set`; of the model only the languages matter."""

    kind: Literal["majority", "glossed"] = "majority"
    sets: tuple[str, ...] = ("masakhanews", "newstopics")
    languages: tuple[str, ...] = ()  # the model's where none
    sources: tuple[str, ...] = ("wmt_nway", "tatoeba")  # parallel text the dictionary is made of
    seed: int = 0

    def measure(self, model: SentenceModel, folder: Callable[[], DataFolder]) -> list[Figure]:
        """Return the accuracy from each language to each other one, as a matrix.

        Raises:
            InputError: A set or a language is missing, or there is no parallel text of a pair.
        """
        opened = folder()
        languages = require_languages(model, self.languages, least=2)
        sets = read_labelled_sets(opened, self.sets, languages)
        matrix: dict[str, dict[str, float]] = {source: {} for source in languages}
        for source in languages:
            for target in languages:
                if source == target:
                    continue
                # As in `training.evaluation.splits`, where texts are no translations.
                test = sets[target].test + sets[target].train
                if self.kind == "majority":
                    matrix[source][target] = _majority(test)
                else:
                    dictionary = dice_dictionary(self._pairs(opened, target, source))
                    matrix[source][target] = self._glossed(sets[source].train, test, dictionary)
        cells = [value for row in matrix.values() for value in row.values()]
        return [
            Figure(
                protocol=NAME,
                dataset="+".join(self.sets),
                metric=f"accuracy, {self.kind}, %",
                value=sum(cells) / len(cells),
                matrix=matrix,
            )
        ]

    def _pairs(self, folder: DataFolder, first: str, second: str) -> Pairs:
        found = False
        broken = BrokenLines("skip")
        for name in self.sources:
            path = folder.source(name)
            if {first, second} <= find_nway(path).keys():
                table = read_nway(path, languages=(first, second), broken=broken)
                found = True
                yield from (
                    (a, b)
                    for a, b in zip(table.columns[first], table.columns[second], strict=True)
                    if a and b
                )
            for files in find_moses(path):
                if (files.source, files.target) == (first, second):
                    found = True
                    yield from read_moses(files, broken)
                elif (files.target, files.source) == (first, second):
                    found = True
                    yield from ((b, a) for a, b in read_moses(files, broken))
        if not found:
            raise InputError(
                f"{', '.join(self.sources)} have no pairs of {first} and {second}.",
                field="sources",
            )

    def _glossed(
        self,
        train: Sequence[Document],
        test: Sequence[Document],
        dictionary: Mapping[str, str],
    ) -> float:
        from sklearn.feature_extraction.text import TfidfVectorizer

        vectorizer = TfidfVectorizer(analyzer=words_of, min_df=2)
        fitted = np.asarray(vectorizer.fit_transform([one.text for one in train]).todense())
        glossed = [
            " ".join(dictionary.get(word, word) for word in words_of(one.text)) for one in test
        ]
        asked = np.asarray(vectorizer.transform(glossed).todense())
        examples = Examples(fitted.astype(np.float32), [one.label for one in train])
        classifier = fit_classifier("perceptron", examples, seed=self.seed)
        return accuracy_of(
            classifier, Examples(asked.astype(np.float32), [one.label for one in test])
        )


def _majority(test: Sequence[Document]) -> float:
    """Return the accuracy of the class that most of `test` have."""
    return 100.0 * Counter(one.label for one in test).most_common(1)[0][1] / len(test)


def _distinct(text: str) -> list[str]:
    return sorted(set(words_of(text)))
