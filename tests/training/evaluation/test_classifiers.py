"""Classifiers against scipy's optimiser, the best rule there is, and themselves."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from service.errors import InputError
from training.evaluation.classifiers import KINDS, Examples, accuracy_of, fit_classifier
from training.evaluation.feed_forward import FeedForward, fit_feed_forward

RANDOM = np.random.default_rng(4)
CENTRES = np.eye(3, 6) * 1.5


def _examples(rows: int) -> Examples:
    labels = [i % 3 for i in range(rows)]
    vectors = CENTRES[labels] + RANDOM.normal(size=(rows, 6))
    return Examples(vectors.astype(np.float32), [f"class {label}" for label in labels])


FIT, TUNE, TEST = _examples(120), _examples(60), _examples(300)


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_learns_and_the_seed_decides(kind: str) -> None:
    fitted = [fit_classifier(kind, FIT, TUNE, seed=s) for s in (1, 1)]  # type: ignore[arg-type]
    said = [one.predict(TEST.vectors) for one in fitted]
    assert said[0] == said[1]
    # What the best rule there is, the nearest centre, reaches.
    distances = ((TEST.vectors[:, None] - CENTRES) ** 2).sum(2)
    best = np.mean([f"class {i}" for i in distances.argmin(1)] == np.array(TEST.labels)) * 100
    assert best - 12 < accuracy_of(fitted[0], TEST) <= best + 6


def test_logistic_regression_is_the_minimum_that_scipy_finds() -> None:
    rows = FIT.vectors.astype(np.float64)
    due = np.array([int(label[-1]) for label in FIT.labels])

    def loss(flat: np.ndarray, strength: float) -> float:
        weights = flat.reshape(3, 7)
        logits = rows @ weights[:, :6].T + weights[:, 6]
        logits -= logits.max(1, keepdims=True)
        surprise = np.log(np.exp(logits).sum(1)) - logits[np.arange(len(due)), due]
        return float(strength * surprise.sum() + 0.5 * (weights[:, :6] ** 2).sum())

    # Tuned on what it is fitted on, so each strength is compared with the one that was chosen.
    fitted = fit_classifier("logistic", FIT, TUNE)
    said = fitted.predict(TEST.vectors)
    agreeing = []
    for strength in (0.01, 0.1, 1.0, 10.0, 100.0):
        found = minimize(loss, np.zeros(21), args=(strength,), method="L-BFGS-B").x.reshape(3, 7)
        logits = TEST.vectors @ found[:, :6].T + found[:, 6]
        ours = [f"class {i}" for i in logits.argmax(1)]
        agreeing.append(np.mean([a == b for a, b in zip(ours, said, strict=True)]))
    assert max(agreeing) > 0.99


def test_the_network_keeps_its_best_round() -> None:
    wrong = Examples(TUNE.vectors, ["class 9"] * len(TUNE.labels))  # no round is better
    first = fit_feed_forward(
        FeedForward(rounds=30), FIT.vectors, FIT.labels, tune=(wrong.vectors, wrong.labels)
    )
    one = fit_feed_forward(
        FeedForward(rounds=1), FIT.vectors, FIT.labels, tune=(TUNE.vectors, TUNE.labels)
    )
    assert first.predict(TEST.vectors) == one.predict(TEST.vectors)


def test_scale_does_not_change_what_a_network_learns() -> None:
    said = [
        fit_feed_forward(
            FeedForward(rounds=5),
            factor * FIT.vectors,
            FIT.labels,
            tune=(factor * TUNE.vectors, TUNE.labels),
        ).predict(factor * TEST.vectors)
        for factor in (np.float32(1), np.float32(64))
    ]
    assert said[0] == said[1]


def test_one_label_is_refused() -> None:
    with pytest.raises(InputError, match="Two labels or more"):
        fit_classifier("logistic", Examples(FIT.vectors[:2], ["a", "a"]), TUNE)
