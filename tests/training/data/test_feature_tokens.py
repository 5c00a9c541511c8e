"""Feature tables give what the serving tokenizer gives."""

from pathlib import Path

import numpy as np

from service.text.vocabulary import NgramPlan, NgramTokenizer, Vocabulary
from training.data.feature_tokens import FeatureTable, tokenize_features

TOKENIZER = NgramTokenizer(
    Vocabulary(lower=True, words=("the", "cat"), ngrams=NgramPlan(sizes=(3, 4), buckets=30))
)
TEXTS = ["The cat sleeps", "", "the the unbelievable", "a"]


def test_equals_the_tokenizer_that_serves() -> None:
    table = tokenize_features(TEXTS, TOKENIZER, longest=9)
    ids, lengths = table.gather(np.arange(4), longest=9)
    inputs = TOKENIZER.collate(TOKENIZER.encode(TEXTS, max_tokens=9).tokens)
    assert lengths.tolist() == inputs["mask"].sum(1).tolist()
    np.testing.assert_array_equal(ids, inputs["ids"][inputs["mask"].astype(bool)])


def test_width_is_what_the_batch_needs() -> None:
    table = tokenize_features(TEXTS, TOKENIZER, longest=9)
    assert table.gather(np.array([3]), longest=9)[0].shape == (1, 2)
    assert table.gather(np.array([1]), longest=9)[0].shape == (0, 1)


def test_long_sentences_are_cut() -> None:
    table = tokenize_features(TEXTS, TOKENIZER, longest=2)
    assert table.lengths.tolist() == [2, 0, 2, 1]
    assert table.gather(np.array([0]), longest=1)[1].tolist() == [1]


def test_is_read_back(tmp_path: Path) -> None:
    table = tokenize_features(TEXTS, TOKENIZER, longest=9)
    table.save(tmp_path / "features.npz")
    loaded = FeatureTable.load(tmp_path / "features.npz")
    np.testing.assert_array_equal(loaded.features, table.features)
    np.testing.assert_array_equal(loaded.words.ids, table.words.ids)
