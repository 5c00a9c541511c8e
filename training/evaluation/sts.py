"""Semantic textual similarity: Spearman's correlation of cosine and people's scores, times 100.

STS benchmark (Cer et al. 2017) and sets of its form, in one language or more.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from scipy.stats import spearmanr

from service.errors import InputError
from service.inference.encoder import Encoder
from training.data.folder import DataFolder
from training.data.lines import BrokenLines
from training.data.tsv import read_tsv
from training.evaluation.figures import Figure, mean_figure
from training.evaluation.retrieval import unit_vectors

NAME = "sts"


def evaluate(
    encoder: Encoder, folder: DataFolder, languages: Collection[str] | None = None
) -> list[Figure]:
    """Return the correlation, mean over languages.

    Args:
        encoder: Of the exported bundle.
        folder: Has `eval/stsb/<lang>.dev.tsv(.gz)`.
        languages: Those to measure; those that the bundle was trained for where None.

    Raises:
        InputError: There is no file for any of them, or a score is no number.
    """
    wanted = set(encoder.manifest.languages if languages is None else languages)
    by_language: dict[str, float] = {}
    for path in folder.evaluation_files("stsb", "*.dev.tsv*"):
        language = path.name.split(".")[0]
        if language not in wanted:
            continue
        rows = list(read_tsv(path, ("sentence1", "sentence2", "score"), BrokenLines("refuse")))
        try:
            scores = np.array([float(row[2]) for row in rows])
        except ValueError as error:
            raise InputError(f"{path}: a score is no number: {error}.") from error
        first = unit_vectors(encoder, [row[0] for row in rows], language)
        second = unit_vectors(encoder, [row[1] for row in rows], language)
        correlation = spearmanr((first * second).sum(1), scores).statistic
        by_language[language] = 100.0 * float(correlation)
    if not by_language:
        raise InputError(
            f"{folder.root}/eval/stsb has no dev file of {', '.join(sorted(wanted))}.",
            field="--data",
            remedy="Files are named `<lang>.dev.tsv(.gz)`, header `sentence1 sentence2 score`.",
        )
    name = f"STS benchmark dev, {len(by_language)} languages"
    return [mean_figure(NAME, name, "Spearman x 100", by_language)]
