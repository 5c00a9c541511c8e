"""Batches of pairs that people have scored."""

from __future__ import annotations

import itertools

import pytest
import torch

from service.text.vocabulary import Vocabulary, WordTokenizer
from training.data.scored_batches import ScoredBatch, ScoredBatches
from training.data.scored_pairs import ScoredPairs

WORDS = tuple(map("".join, itertools.product("abcdefgh", "aeiouy", "lmnrstvwz")))
TOKENIZER = WordTokenizer(Vocabulary(lower=True, words=WORDS))


def pairs(language: str, count: int, *, first: int) -> ScoredPairs:
    """Return pairs of sentences of 1 to 8 words, the score being the number of their word."""
    numbers = range(first, first + count)
    one = [" ".join([WORDS[number]] * (1 + number % 8)) for number in numbers]
    other = [f"{text} {WORDS[0]}" for text in one]
    return ScoredPairs("made", language, one, other, list(map(float, numbers)))


def batches(size: int = 6, *counts: int) -> ScoredBatches:
    made = [pairs("de", count, first=100 * (1 + i)) for i, count in enumerate(counts or (96, 80))]
    return ScoredBatches(made, TOKENIZER, size=size, longest=6, seed=3)


def sentences(batch: ScoredBatch) -> list[list[int]]:
    ids, ends = batch.sentences.ids.tolist(), batch.sentences.lengths.cumsum(0).tolist()
    return [ids[start:end] for start, end in itertools.pairwise([0, *ends])]


def test_sentences_stand_beside_their_scores_cut_to_the_longest() -> None:
    for number in range(10):
        batch = batches().batch(number)
        first, second = sentences(batch)[:6], sentences(batch)[6:]
        for one, other, score in zip(first, second, batch.scores.tolist(), strict=True):
            word = TOKENIZER.word_id(WORDS[int(score)])
            length = 1 + int(score) % 8
            assert one == [word] * min(length, 6)
            assert other == [*[word] * length, TOKENIZER.word_id(WORDS[0])][:6]


def test_languages_take_turns_and_a_batch_is_the_same_again() -> None:
    made = batches()
    assert all(made.batch(0).scores < 200)
    assert all(made.batch(1).scores >= 200)
    torch.testing.assert_close(made.batch(4).scores, batches().batch(4).scores)
    assert made.batch(0).scores.tolist() != made.batch(2).scores.tolist()


def test_a_batch_hardly_pads() -> None:
    made = batches()
    lengths = [made.batch(number).sentences.lengths for number in range(40)]
    filled = sum(int(of.sum()) for of in lengths) / sum(len(of) * int(of.max()) for of in lengths)
    assert filled > 0.8  # 0.6 where pairs are drawn without regard to their length


@pytest.mark.parametrize("count", [2, 5])
def test_a_language_with_few_pairs_gives_all_of_them(count: int) -> None:
    assert len(batches(6, count).batch(0).scores) == count
