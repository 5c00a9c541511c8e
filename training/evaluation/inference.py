"""Natural language inference, zero-shot (Conneau et al. 2018, XNLI; Chidambaram et al. 2018, 4.1).

A head is fitted on English premises and hypotheses and measured in every language. Its features are
u, v, |u - v| and u * v of frozen unit vectors (Conneau et al. 2017; Chidambaram et al. 2018, 2.2).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from service.errors import InputError
from service.inference.session import Vectors
from training.data.folder import DataFolder
from training.data.inference import LABELS
from training.data.tsv import read_all
from training.evaluation.classifiers import Examples, accuracy_of, fit_classifier
from training.evaluation.feed_forward import FeedForward
from training.evaluation.figures import Figure, mean_figure
from training.evaluation.models import SentenceModel, require_files, require_languages, vectors_of

NAME = "nli"

_FORM = "`<lang>.dev.tsv(.gz)`, header `premise hypothesis label`"

_COLUMNS = ("premise", "hypothesis", "label")
_NETWORK = FeedForward(hidden=128, rounds=12, batch=64, rate=0.001)


def pair_features(first: Vectors, second: Vectors) -> Vectors:
    """Return float32 [rows, 4 D]: u, v, |u - v|, u * v."""
    features: Vectors = np.concatenate(
        [first, second, np.abs(first - second), first * second], axis=1
    )
    return features


def _read_labelled(path: Path) -> list[tuple[str, ...]]:
    rows = [row for row in read_all(path, _COLUMNS) if row[2] in LABELS]
    if not rows:
        raise InputError(
            f"{path} has no row with one of the labels {', '.join(LABELS)}.",
            remedy="Write the labels as words.",
        )
    return rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Inference:
    """What may be changed with `--set`."""

    fit: tuple[str, ...] = ("en.snli_dev", "en.snli_test")  # files under eval/nli
    most: int = 12_000  # examples to fit on, every tenth of them to tune on
    set: str = "xnli"  # under eval/: <lang>.dev.tsv(.gz)
    languages: tuple[str, ...] = ()  # the model's where none
    measured: int = 2490  # examples a language
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.fit or self.measured < 1:
            raise ValueError("fit names a file or more, and measured is at least 1")

    def measure(self, model: SentenceModel, folder: Callable[[], DataFolder]) -> list[Figure]:
        """Return the accuracy, mean over languages other than English, and that of English.

        Raises:
            InputError: There is nothing to fit or to measure on.
        """
        opened = folder()
        rows: list[tuple[str, ...]] = []
        for name in self.fit:
            files = opened.evaluation_files("nli", f"{name}.tsv*")
            if not files:
                raise InputError(
                    f"{opened.root}/eval/nli has no {name}.tsv(.gz).",
                    field="fit",
                    remedy="It is to have the columns premise, hypothesis and label.",
                )
            rows += _read_labelled(files[0])
        wanted = require_languages(model, self.languages)
        asked = {
            language: path
            for language in wanted
            for path in opened.evaluation_files(self.set, f"{language}.dev.tsv*")
        }
        require_files(self.languages, asked, folder=opened.root / "eval" / self.set, form=_FORM)
        drawn = np.random.default_rng(self.seed).permutation(len(rows))[: self.most]
        chosen = [rows[int(i)] for i in drawn]
        tenth = max(1, len(chosen) // 10)
        head = fit_classifier(
            "ffn",
            self._examples(model, chosen[tenth:], "en"),
            self._examples(model, chosen[:tenth], "en"),
            seed=self.seed,
            network=_NETWORK,
        )
        by_language = {}
        for language, path in asked.items():
            examples = self._examples(model, _read_labelled(path)[: self.measured], language)
            by_language[language] = accuracy_of(head, examples)
        if not by_language:
            raise InputError(
                f"{opened.root}/eval/{self.set} has no dev file of these languages.",
                field="languages",
                given=",".join(self.languages or model.languages),
                remedy=f"Files are named {_FORM}.",
            )
        others = {name: value for name, value in by_language.items() if name != "en"}
        figures = []
        for name, values in (("zero-shot", others), ("English", {"en": by_language.get("en")})):
            measured = {key: value for key, value in values.items() if value is not None}
            if measured:
                dataset = f"{self.set} dev, {name}"
                figures.append(mean_figure(NAME, dataset, "accuracy, %", measured))
        return figures

    def _examples(
        self, model: SentenceModel, rows: Sequence[tuple[str, ...]], language: str
    ) -> Examples:
        first = vectors_of(model, [row[0] for row in rows], language, unit=True)
        second = vectors_of(model, [row[1] for row in rows], language, unit=True)
        return Examples(pair_features(first, second), [row[2] for row in rows])
