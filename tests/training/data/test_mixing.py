"""Weights of buckets."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.training.made import make_corpus
from training.data.mixing import Mixing, make_buckets


@pytest.mark.parametrize("temperature", [0.0, 0.5, 1.0])
def test_shares_are_sizes_to_the_power_of_the_temperature(temperature: float) -> None:
    buckets = make_buckets(make_corpus({"de": 90, "fr": 10}), Mixing(temperature=temperature))
    expected = np.array([90.0, 10.0]) ** temperature
    assert buckets.names == ("en-de made", "en-fr made")
    np.testing.assert_allclose(buckets.shares, expected / expected.sum())


def test_weights_of_languages_and_sources_multiply() -> None:
    corpus = make_corpus({"de": 50, "fr": 50})
    mixing = Mixing(temperature=1.0, language_weights={"fr": 3.0}, source_weights={"made": 7.0})
    np.testing.assert_allclose(make_buckets(corpus, mixing).shares, [0.25, 0.75])


def test_every_usable_pair_is_in_its_bucket_once() -> None:
    corpus = make_corpus({"de": 5, "fr": 3})
    usable = np.array([True] * 4 + [False] + [True] * 3)
    buckets = make_buckets(corpus, Mixing(), usable)
    assert sorted(buckets.pairs) == [0, 1, 2, 3, 5, 6, 7]
    assert buckets.starts.tolist() == [0, 4, 7]
    assert set(buckets.pairs[:4]) == {0, 1, 2, 3}


def test_a_sentence_beside_itself_is_no_pair() -> None:
    corpus = make_corpus({"de": 3})
    alone = np.array([[1, 1], [3, 3]], dtype=np.int32)
    both = replace(
        corpus,
        pairs=np.concatenate([corpus.pairs, alone]),
        source=np.zeros(5, dtype=np.int16),
    )
    assert sorted(make_buckets(both, Mixing()).pairs) == [0, 1, 2]
    usable = np.array([True, True, False, True, True])
    assert sorted(make_buckets(both, Mixing(), usable).pairs) == [0, 1]
