"""What classifies vectors in the papers' tasks: perceptron, logistic regression, SVM, FFN.

| kind | in | what is chosen on the tuning set |
|---|---|---|
| perceptron | Hermann & Blunsom 2013, 4.2 (Collins 2002) | nothing: ten rounds |
| logistic | Yu et al. 2018, 5 | strength of the L2 term |
| svm | Li 2021, 3.3 | strength of the L2 term |
| ffn | Li 2021, 4.3.3; the MLP of SentEval | the round |
| tanh512 | Chidambaram et al. 2018, 4.2 | nothing: twenty rounds |
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, get_args

from service.errors import InputError
from service.inference.session import Vectors
from training.evaluation.feed_forward import TANH_512, FeedForward, fit_feed_forward
from training.evaluation.perceptron import fit_perceptron

Kind = Literal["perceptron", "logistic", "svm", "ffn", "tanh512"]
KINDS: tuple[Kind, ...] = get_args(Kind)

_STRENGTHS = (0.01, 0.1, 1.0, 10.0, 100.0)
"""C, the inverse strength of regularisation, that is tried."""


class Classifier(Protocol):
    """A fitted classifier."""

    def predict(self, vectors: Vectors) -> list[str]:
        """Return the label of each row of vectors [rows, D]."""
        ...


@dataclass(frozen=True, slots=True)
class Examples:
    """Vectors float32 [rows, D] and the label of each."""

    vectors: Vectors
    labels: Sequence[str]

    def __post_init__(self) -> None:
        if len(self.vectors) != len(self.labels):
            raise ValueError("one label a vector is due; this is a bug")


def is_tuned(kind: Kind) -> bool:
    """Return whether a part of the labelled text is set aside for a classifier of `kind`.

    All but the perceptron, which Hermann & Blunsom fit on all of it. (`tanh512` chooses nothing
    either; Chidambaram et al. 2018, 4.2, set a tenth aside all the same.)
    """
    return kind != "perceptron"


def fit_classifier(
    kind: Kind,
    fit: Examples,
    tune: Examples | None = None,
    *,
    seed: int = 0,
    network: FeedForward | None = None,
) -> Classifier:
    """Return a classifier of `kind`.

    Args:
        kind: Which.
        fit: What it is fitted on.
        tune: What its hyperparameter is chosen on, due where `is_tuned`; never what is reported.
        seed: Of all that is drawn.
        network: The shape of an `ffn`; the small one after LASER's script where None.

    Raises:
        InputError: Fewer than two labels.
    """
    if len(set(fit.labels)) < 2:
        raise InputError(
            f"Two labels or more are due to fit a classifier, not {len(set(fit.labels))}.",
            field="labels",
        )
    if kind == "perceptron":
        return fit_perceptron(fit.vectors, fit.labels, seed=seed)
    if tune is None:
        raise ValueError(f"{kind} is tuned, so a tuning set is due; this is a bug")
    if kind in ("ffn", "tanh512"):
        return fit_feed_forward(
            TANH_512 if kind == "tanh512" else network or FeedForward(),
            fit.vectors,
            fit.labels,
            tune=(tune.vectors, tune.labels),
            seed=seed,
        )
    best: tuple[float, Classifier] | None = None
    for strength in _STRENGTHS:
        fitted = _fit_linear(kind, fit, strength=strength, seed=seed)
        reached = accuracy_of(fitted, tune)
        if best is None or reached > best[0]:
            best = reached, fitted
    assert best is not None
    return best[1]


def accuracy_of(classifier: Classifier, examples: Examples) -> float:
    """Return in percent how many rows get the right label."""
    said = classifier.predict(examples.vectors)
    hits = sum(a == b for a, b in zip(said, examples.labels, strict=True))
    return 100.0 * hits / len(examples.labels)


class _Linear:
    """scikit-learn's logistic regression or linear SVM behind our interface."""

    def __init__(self, kind: Kind, *, strength: float, seed: int) -> None:
        from sklearn.linear_model import LogisticRegression
        from sklearn.svm import LinearSVC

        self._fitted = (
            LogisticRegression(C=strength, max_iter=300, random_state=seed)
            if kind == "logistic"
            else LinearSVC(C=strength, max_iter=3000, random_state=seed)
        )

    def fit(self, examples: Examples) -> None:
        """Fit on `examples`; a fit that has not quite converged is good enough to compare."""
        from sklearn.exceptions import ConvergenceWarning

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            self._fitted.fit(examples.vectors, list(examples.labels))

    def predict(self, vectors: Vectors) -> list[str]:
        """Return the label of each row."""
        return [str(label) for label in self._fitted.predict(vectors)]


def _fit_linear(kind: Kind, fit: Examples, *, strength: float, seed: int) -> Classifier:
    fitted = _Linear(kind, strength=strength, seed=seed)
    fitted.fit(fit)
    return fitted
