"""Hard negatives are near, and never a translation."""

import numpy as np
import pytest

from service.errors import InputError
from training.data.hard_negatives import mine_hard_negatives

RANDOM = np.random.default_rng(7)


def world(
    inputs: int, answers: int, pairs: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return random pairs of inputs 0.. and answers `inputs`.., some sentences meaning the same."""
    rows = np.column_stack(
        [RANDOM.integers(0, inputs, pairs), inputs + RANDOM.integers(0, answers, pairs)]
    )
    rows = np.unique(rows, axis=0)
    sentences = np.unique(rows[:, 1])
    vectors = RANDOM.normal(size=(len(sentences), 5)).astype(np.float32)
    meanings = np.arange(inputs + answers)
    meanings[inputs + 1 : inputs + 4] = inputs  # four answers that differ in punctuation only
    return rows, sentences, vectors, meanings


@pytest.mark.parametrize("pool", [5, 40, 10_000])
def test_never_a_translation(pool: int) -> None:
    pairs, sentences, vectors, meanings = world(8, 60, 200)
    mined = mine_hard_negatives(pairs, sentences, vectors, meanings, count=5, pool=pool, seed=0)
    assert mined.shape == (len(pairs), 5)
    for (source, _), negatives in zip(pairs, mined, strict=True):
        right = {meanings[answer] for answer in pairs[pairs[:, 0] == source, 1]}
        assert not right & set(meanings[negatives])


def test_the_nearest_wrong_answers_in_order() -> None:
    pairs, sentences, vectors, meanings = world(8, 60, 120)
    mined = mine_hard_negatives(pairs, sentences, vectors, meanings, count=3, pool=10_000, seed=0)
    of = dict(zip(sentences.tolist(), vectors, strict=True))
    for (source, answer), negatives in zip(pairs, mined, strict=True):
        right = {meanings[a] for s, a in pairs if s == source}
        wrong = [s for s in sentences if meanings[s] not in right]
        expected = sorted(wrong, key=lambda s: -float(of[s] @ of[answer]))[:3]
        assert negatives.tolist() == expected


def test_too_few_wrong_answers_repeat() -> None:
    pairs = np.array([[0, 2], [1, 3]])
    vectors = np.eye(2, dtype=np.float32)
    mined = mine_hard_negatives(
        pairs, np.array([2, 3]), vectors, np.arange(4), count=3, pool=9, seed=0
    )
    assert mined.tolist() == [[3, 3, 3], [2, 2, 2]]


def test_nothing_but_translations_is_refused() -> None:
    with pytest.raises(InputError, match="every answer is a translation"):
        mine_hard_negatives(
            np.array([[0, 1]]),
            np.array([1]),
            np.ones((1, 2), dtype=np.float32),
            np.arange(2),
            count=1,
            pool=9,
            seed=0,
        )
