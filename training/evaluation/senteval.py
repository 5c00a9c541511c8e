"""SentEval's classification tasks with an MLP (Conneau & Kiela 2018).

One hidden layer of 128 (Yu et al. 2018, section 3). Sets without splits are folded; those with
splits are fitted on `train` and measured on `test`. English.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from service.errors import InputError
from training.data.folder import DataFolder
from training.data.tsv import read_all
from training.evaluation.classifiers import Examples, accuracy_of, fit_classifier
from training.evaluation.feed_forward import FeedForward
from training.evaluation.figures import Figure, mean_figure
from training.evaluation.models import SentenceModel, vectors_of

NAME = "senteval"

_NETWORK = FeedForward(hidden=128, activation="sigmoid", dropout=0.0, rounds=15, batch=64)

_Rows = list[tuple[str, str]]
"""Text and label."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SentEval:
    """What may be changed with `--set`."""

    tasks: tuple[str, ...] = ("mr", "cr", "subj", "mpqa", "trec", "sst2")
    most: int = 4000  # examples of a task, drawn by the seed; SentEval takes all
    folds: int = 5  # of sets without splits; SentEval's are ten
    seed: int = 0

    def __post_init__(self) -> None:
        if self.folds < 2 or not self.tasks:
            raise ValueError("folds are two or more, and tasks one or more")

    def measure(self, model: SentenceModel, folder: Callable[[], DataFolder]) -> list[Figure]:
        """Return the accuracy, mean over tasks; `by_language` names the tasks.

        Raises:
            InputError: A task is not in the data folder, or its file has no labels.
        """
        opened = folder()
        reached = {task: self._task(model, opened, task) for task in self.tasks}
        return [mean_figure(NAME, f"SentEval, {len(reached)} tasks", "accuracy, %", reached)]

    def _task(self, model: SentenceModel, folder: DataFolder, task: str) -> float:
        whole = folder.evaluation_files(NAME, f"{task}.tsv*")
        train = folder.evaluation_files(NAME, f"{task}.train.tsv*")
        test = folder.evaluation_files(NAME, f"{task}.test.tsv*")
        if not whole and not (train and test):
            raise InputError(
                f"{folder.root}/eval/senteval has neither {task}.tsv nor {task}.train.tsv and "
                f"{task}.test.tsv.",
                field="tasks",
                given=task,
                remedy="Leave the task out, or add its files, header `text label`.",
            )
        if whole:
            return self._folded(self._read(model, _rows(whole[0])))
        fit = self._read(model, _rows(train[0]))
        measured = self._read(model, _rows(test[0]))
        return self._fitted(
            fit, np.arange(len(fit.labels)), measured, np.arange(len(measured.labels))
        )

    def _read(self, model: SentenceModel, rows: _Rows) -> Examples:
        drawn = np.random.default_rng(self.seed).permutation(len(rows))[: self.most]
        chosen = [rows[int(i)] for i in drawn]
        vectors = vectors_of(model, [row[0] for row in chosen], "en", unit=False)
        return Examples(vectors, [row[1] for row in chosen])

    def _folded(self, examples: Examples) -> float:
        if self.folds > len(examples.labels):
            raise InputError(
                f"{len(examples.labels)} examples are too few for {self.folds} folds.",
                field="folds",
                given=self.folds,
                remedy="Name fewer folds, or take more examples: --set most=COUNT.",
            )
        folds = np.arange(len(examples.labels)) % self.folds
        return (
            sum(
                self._fitted(
                    examples, np.flatnonzero(folds != fold), examples, np.flatnonzero(folds == fold)
                )
                for fold in range(self.folds)
            )
            / self.folds
        )

    def _fitted(
        self, fit: Examples, places: np.ndarray, test: Examples, measured: np.ndarray
    ) -> float:
        border = len(places) // 10
        classifier = fit_classifier(
            "ffn",
            _taken(fit, places[border:]),
            _taken(fit, places[:border]),
            seed=self.seed,
            network=_NETWORK,
        )
        return accuracy_of(classifier, _taken(test, measured))


def _rows(path: Path) -> _Rows:
    return [(row[0], row[1]) for row in read_all(path, ("text", "label"))]


def _taken(examples: Examples, places: Sequence[int] | np.ndarray) -> Examples:
    return Examples(examples.vectors[np.asarray(places)], [examples.labels[int(i)] for i in places])
