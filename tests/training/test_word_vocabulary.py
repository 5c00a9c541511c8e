"""Vocabularies of whole words."""

import pytest

from service.errors import InputError
from service.text.vocabulary import NgramPlan
from training.word_vocabulary import WordPlan, train_words

TEXTS = ["The cat, the Dog", "the cat sleeps", "a DOG"]


def test_the_most_frequent_words_come_first() -> None:
    assert train_words(TEXTS, WordPlan()).words == ("the", "cat", "dog", ",", "a", "sleeps")


def test_rare_words_and_words_past_the_limit_are_left_out() -> None:
    assert train_words(TEXTS, WordPlan(least=2)).words == ("the", "cat", "dog")
    assert train_words(TEXTS, WordPlan(words=1)).words == ("the",)


def test_case_is_kept_where_the_plan_says_so() -> None:
    assert "DOG" in train_words(TEXTS, WordPlan(lower=False)).words


def test_the_plan_is_in_the_file() -> None:
    plan = WordPlan(unknown_buckets=7, ngrams=NgramPlan(sizes=(3, 4), buckets=9))
    vocabulary = train_words(TEXTS, plan)
    assert vocabulary.unknown_buckets == 7
    assert vocabulary.ngrams == plan.ngrams
    assert vocabulary.size == 1 + 7 + 6


def test_text_without_such_words_is_refused() -> None:
    with pytest.raises(InputError, match="9 times"):
        train_words(TEXTS, WordPlan(least=9))
