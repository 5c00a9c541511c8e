"""The averaged perceptron: one weight vector a class, mistakes correct them, the mean predicts.

Collins 2002 (Discriminative training methods for hidden Markov models, section 2) for more than two
classes; what Klementiev et al. 2012 and Hermann & Blunsom 2013 (section 4.2) classify documents
with, in ten rounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from service.inference.session import Vectors


@dataclass(frozen=True, slots=True)
class Perceptron:
    """A fitted classifier.

    Attributes:
        labels: In the order of the rows of `weights`.
        weights: float64 [labels, D + 1], averaged over all steps; the last column is the bias.
    """

    labels: tuple[str, ...]
    weights: npt.NDArray[np.float64]

    def scores(self, vectors: Vectors) -> npt.NDArray[np.float64]:
        """Return float64 [rows, labels] for vectors [rows, D]."""
        result: npt.NDArray[np.float64] = _with_bias(vectors) @ self.weights.T
        return result

    def predict(self, vectors: Vectors) -> list[str]:
        """Return the label of each row of vectors [rows, D]; of equal scores the first."""
        return [self.labels[i] for i in self.scores(vectors).argmax(1)]


def fit_perceptron(
    vectors: Vectors, labels: Sequence[str], *, rounds: int = 10, seed: int = 0
) -> Perceptron:
    """Return the averaged perceptron of labelled vectors [rows, D].

    Args:
        vectors: One a document, of any length.
        labels: Of each.
        rounds: Through all rows, each time in another order.
        seed: Of the orders.
    """
    names = tuple(sorted(set(labels)))
    rows = _with_bias(vectors)
    due = np.array([names.index(label) for label in labels])
    weights = np.zeros((len(names), rows.shape[1]))
    # Sum of step x change: the mean over all steps is then weights - weighted / steps, and a step
    # without a mistake costs nothing.
    weighted = np.zeros_like(weights)
    random = np.random.default_rng(seed)
    steps = 0
    for _ in range(rounds):
        for i in random.permutation(len(rows)):
            said = int((weights @ rows[i]).argmax())
            if said != due[i]:
                weights[due[i]] += rows[i]
                weights[said] -= rows[i]
                weighted[due[i]] += steps * rows[i]
                weighted[said] -= steps * rows[i]
            steps += 1
    return Perceptron(names, weights - weighted / max(1, steps))


def _with_bias(vectors: Vectors) -> npt.NDArray[np.float64]:
    rows = vectors.astype(np.float64)
    return np.concatenate([rows, np.ones((len(rows), 1))], axis=1)
