"""Semantic textual similarity: correlation of vectors' closeness and people's scores, times 100.

STS benchmark (Cer et al. 2017) and sets of its form, in one language or more. Spearman's
correlation of the cosine, or Pearson's of the angular distance, -arccos(cosine) (Chidambaram et al.
2018, section 3.5).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.stats import pearsonr, spearmanr

from service.errors import InputError
from training.data.folder import DataFolder
from training.data.tsv import read_all
from training.evaluation.figures import Figure, mean_figure
from training.evaluation.models import SentenceModel, require_files, require_languages, vectors_of

NAME = "sts"

_FORM = "`<lang>.dev.tsv(.gz)`, header `sentence1 sentence2 score`"

Correlation = Literal["spearman", "pearson"]


def correlation_of(
    cosines: npt.NDArray[np.float32], scores: npt.NDArray[np.float64], kind: Correlation
) -> float:
    """Return Spearman's correlation, or Pearson's on the angular distance, times 100.

    Of pairs that are all as close as each other, as those of a model that gives every text one
    vector, it is not defined; it counts as 0: such cosines say nothing of the scores.
    """
    if (cosines == cosines[0]).all():
        return 0.0
    if kind == "spearman":
        return 100.0 * float(spearmanr(cosines, scores).statistic)
    angular = -np.arccos(np.clip(cosines.astype(np.float64), -1.0, 1.0))
    return 100.0 * float(pearsonr(angular, scores).statistic)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sts:
    """What may be changed with `--set`."""

    set: str = "stsb"  # under eval/
    languages: tuple[str, ...] = ()  # the model's where none
    correlation: Correlation = "spearman"
    cross: bool = False  # first sentence in English, second in the other language

    def measure(self, model: SentenceModel, folder: Callable[[], DataFolder]) -> list[Figure]:
        """Return the correlation, mean over those languages that there is a file of.

        Raises:
            InputError: There is no file for any of them, or for one that was named, or a score is
                no number.
        """
        opened = folder()
        wanted = self.languages or tuple(model.languages)
        if self.cross and set(wanted) == {"en"}:
            raise InputError(
                "English is compared with another language, and none is named.",
                field="languages",
                given=",".join(wanted),
                remedy="Name one or more: --languages de, or leave cross out.",
            )
        files = {
            path.name.split(".")[0]: path
            for path in opened.evaluation_files(self.set, "*.dev.tsv*")
        }
        place = opened.root / "eval" / self.set
        require_files(self.languages, files, folder=place, form=_FORM)
        by_language: dict[str, float] = {}
        for language, path in files.items():
            if language not in wanted or (self.cross and language == "en"):
                continue
            require_languages(model, (language,))
            first, second, scores = read_pairs(path)
            if self.cross:
                first = self._english(opened)
                if len(first) != len(second):
                    raise InputError(
                        f"{path} has {len(second):,} rows and that of English {len(first):,}: "
                        "they are no translations of one another, line by line.",
                        field="cross",
                    )
            left = vectors_of(model, first, "en" if self.cross else language, unit=True)
            right = vectors_of(model, second, language, unit=True)
            cosines = (left * right).sum(1)
            by_language[language] = correlation_of(cosines, scores, self.correlation)
        if not by_language:
            raise InputError(
                f"{place} has no dev file of {', '.join(sorted(wanted))}.",
                field="--data",
                remedy=f"Files are named {_FORM}.",
            )
        title = "STS benchmark" if self.set == "stsb" else self.set
        count = f"{len(by_language)} languages" + (" with English" if self.cross else "")
        metric = "Spearman" if self.correlation == "spearman" else "Pearson, angular"
        return [mean_figure(NAME, f"{title} dev, {count}", f"{metric} x 100", by_language)]

    def _english(self, folder: DataFolder) -> list[str]:
        files = folder.evaluation_files(self.set, "en.dev.tsv*")
        if not files:
            raise InputError(
                f"{folder.root}/eval/{self.set} has no en.dev.tsv(.gz).", field="cross"
            )
        return read_pairs(files[0])[0]


def read_pairs(path: Path) -> tuple[list[str], list[str], npt.NDArray[np.float64]]:
    """Return first sentences, second sentences and scores of a file.

    Raises:
        InputError: A column is missing, a score is no number, or all are the same.
    """
    rows = read_all(path, ("sentence1", "sentence2", "score"))
    try:
        scores = np.array([float(row[2]) for row in rows])
    except ValueError as error:
        raise InputError(f"{path}: a score is no number: {error}.") from error
    if not np.isfinite(scores).all() or (scores == scores[0]).all():
        raise InputError(f"{path}: a correlation needs finite scores, and two different ones.")
    return [row[0] for row in rows], [row[1] for row in rows], scores
