"""Sentence pairs with people's scores, and how well cosines rank them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from service.errors import InputError
from service.inference.session import Vectors
from training.data.tsv import read_all
from training.evaluation.sts import correlation_of

_COLUMNS = ("sentence1", "sentence2", "score")


@dataclass(frozen=True, slots=True)
class Pairs:
    """Texts side by side, and their scores.

    Attributes:
        sides: The first text of each pair, and the second.
        scores: Float64 [pairs].
    """

    sides: tuple[list[str], list[str]]
    scores: npt.NDArray[np.float64]


def pairs_file(text: str) -> Pairs:
    """Return the pairs of a TSV file, gzip or not, as an argument of a command names it."""
    try:
        rows = read_all(Path(text), _COLUMNS)
        scores = np.array([float(score) for *_, score in rows])
    except (InputError, OSError, ValueError) as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return Pairs(([row[0] for row in rows], [row[1] for row in rows]), scores)


def spearman(sides: Sequence[Vectors], scores: npt.NDArray[np.float64]) -> float:
    """Return Spearman's correlation of the rows' products with `scores`, times 100.

    Args:
        sides: Vectors [pairs, E] of the first texts and of the second, all of one length.
        scores: [pairs].
    """
    first, second = sides
    return correlation_of((first * second).sum(axis=1), scores, "spearman")
