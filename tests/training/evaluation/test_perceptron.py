"""The averaged perceptron against the plain algorithm, which keeps every step's weights."""

import numpy as np

from training.evaluation.perceptron import fit_perceptron

RANDOM = np.random.default_rng(2)
LABELS = ["b", "a", "c"] * 10
VECTORS = (np.eye(3)[[1, 0, 2] * 10] + RANDOM.normal(size=(30, 3)) * 0.8).astype(np.float32)


def test_equals_the_mean_of_all_steps() -> None:
    fitted = fit_perceptron(VECTORS, LABELS, rounds=3, seed=5)
    random = np.random.default_rng(5)
    rows = np.hstack([VECTORS.astype(np.float64), np.ones((30, 1))])
    weights, history = np.zeros((3, 4)), []
    for _ in range(3):
        for i in random.permutation(30):
            said, due = int((weights @ rows[i]).argmax()), "abc".index(LABELS[i])
            if said != due:
                weights[due] += rows[i]
                weights[said] -= rows[i]
            history.append(weights.copy())
    assert fitted.labels == ("a", "b", "c")
    np.testing.assert_allclose(fitted.weights, np.mean(history, axis=0), atol=1e-9)


def test_separable_classes_are_told_apart() -> None:
    vectors = np.eye(4, dtype=np.float32).repeat(5, axis=0)
    labels = [label for label in "CEGM" for _ in range(5)]
    assert fit_perceptron(vectors, labels).predict(vectors) == labels


def test_the_seed_decides() -> None:
    one, same, other = (fit_perceptron(VECTORS, LABELS, seed=s).weights for s in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)
