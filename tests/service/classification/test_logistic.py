from __future__ import annotations

import numpy as np
import pytest

from service.classification.logistic import Linear, fit_logistic, sigmoid, softmax


def _clouds(labels: int, seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    targets = random.integers(0, labels, 300)
    centres = random.standard_normal((labels, 12))
    vectors = centres[targets] + 1.5 * random.standard_normal((300, 12))
    return vectors.astype(np.float32), targets


@pytest.mark.parametrize("strength", [0.01, 1.0, 100.0])
def test_it_finds_what_scikit_learn_finds(strength: float) -> None:
    sklearn = pytest.importorskip("sklearn.linear_model", reason="scikit-learn is not installed")
    vectors, targets = _clouds(4)
    weights = np.where(targets == 0, 3.0, 1.0).astype(np.float32)
    found = fit_logistic(vectors, targets, labels=4, strength=strength, sample_weights=weights)
    expected = sklearn.LogisticRegression(C=1 / strength, tol=1e-8, max_iter=5000)
    expected.fit(vectors.astype(np.float64), targets, sample_weight=weights)
    np.testing.assert_allclose(
        softmax(found.logits(vectors)), expected.predict_proba(vectors), atol=2e-3
    )


def test_sigmoids_are_as_many_binary_regressions() -> None:
    sklearn = pytest.importorskip("sklearn.linear_model", reason="scikit-learn is not installed")
    vectors, targets = _clouds(3)
    truth = np.stack([targets == 0, targets != 1, targets == 2], axis=1).astype(np.int8)
    found = sigmoid(fit_logistic(vectors, truth, labels=3, strength=2.0).logits(vectors))
    for label in range(3):
        one = sklearn.LogisticRegression(C=0.5, tol=1e-8).fit(vectors, truth[:, label])
        np.testing.assert_allclose(found[:, label], one.predict_proba(vectors)[:, 1], atol=2e-3)


def test_half_precision_and_many_rows_give_the_same() -> None:
    vectors, targets = _clouds(3)
    many = np.tile(vectors, (40, 1)).astype(np.float16)
    one = fit_logistic(vectors, targets, labels=3, strength=1.0)
    all_of_them = fit_logistic(many, np.tile(targets, 40), labels=3, strength=40.0)
    np.testing.assert_allclose(one.weights, all_of_them.weights, atol=5e-3)


def test_a_prior_holds_where_examples_are_silent() -> None:
    vectors, targets = _clouds(3)
    random = np.random.default_rng(1)
    prior = Linear(
        random.standard_normal((3, 12)).astype(np.float32), np.zeros(3, dtype=np.float32)
    )
    held = fit_logistic(vectors, targets, labels=3, strength=1e6, prior=prior)
    np.testing.assert_allclose(held.weights, prior.weights, atol=1e-2)
    free = fit_logistic(vectors, targets, labels=3, strength=1e-3, prior=prior)
    assert (free.logits(vectors).argmax(1) == targets).mean() > 0.8


def test_a_fit_can_be_broken_off() -> None:
    vectors, targets = _clouds(3)

    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit_logistic(vectors, targets, labels=3, strength=1.0, check=stop)
