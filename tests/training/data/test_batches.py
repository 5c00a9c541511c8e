"""Ragged sentences, and batches of pairs."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.training.made import make_corpus, make_tokens
from training.data.batches import PairBatches, Sentences
from training.data.mixing import Mixing, make_buckets
from training.teacher import TeacherVectors


@given(st.lists(st.integers(0, 7), min_size=1, max_size=6))
def test_padding_and_back(lengths: list[int]) -> None:
    ids = torch.arange(1, sum(lengths) + 1)
    sentences = Sentences(ids, torch.tensor(lengths))
    padded, mask = sentences.padded()
    assert padded.shape == (len(lengths), max(1, *lengths, 1))
    assert mask.sum(1).tolist() == lengths
    again = Sentences.from_padded(padded, mask)
    assert torch.equal(again.ids, ids)
    assert again.lengths.tolist() == lengths


@given(st.lists(st.integers(0, 4), min_size=1, max_size=6), st.integers(0, 6), st.integers(0, 6))
def test_a_part_is_its_sentences(lengths: list[int], first: int, last: int) -> None:
    sentences = Sentences(torch.arange(sum(lengths)), torch.tensor(lengths))
    rows = range(min(first, len(lengths)), min(max(first, last), len(lengths)))
    part = sentences.part(rows)
    assert part.lengths.tolist() == lengths[rows.start : rows.stop]
    assert part.ids.tolist() == list(range(sum(lengths[: rows.start]), sum(lengths[: rows.stop])))


@given(st.lists(st.integers(0, 4), min_size=1, max_size=6), st.data())
def test_chosen_rows_are_their_sentences(lengths: list[int], data: st.DataObject) -> None:
    sentences = Sentences(torch.arange(sum(lengths)), torch.tensor(lengths))
    numbers = data.draw(st.lists(st.integers(0, len(lengths) - 1), max_size=5))
    chosen = sentences.rows(torch.tensor(numbers, dtype=torch.long))
    parts = [sentences.part(range(number, number + 1)) for number in numbers]
    assert chosen.lengths.tolist() == [lengths[number] for number in numbers]
    assert chosen.ids.tolist() == [one for part in parts for one in part.ids.tolist()]


def _batches(*, seed: int = 0, size: int = 16, taught: int = 0) -> PairBatches:
    corpus = make_corpus({"de": 60, "fr": 20})
    row = np.full(len(corpus.texts), -1)
    row[1 : 2 * taught : 2] = np.arange(taught)  # English stands second, so at odd numbers
    vectors = np.random.default_rng(0).standard_normal((taught, 4)).astype(np.float16)
    return PairBatches(
        corpus,
        make_tokens(corpus),
        make_buckets(corpus, Mixing()),
        size=size,
        longest=5,
        seed=seed,
        teacher=TeacherVectors(row, vectors) if taught else None,
    )


def test_a_batch_holds_no_sentence_twice_and_nothing_too_long() -> None:
    batches = _batches()
    for number in range(20):
        batch = batches.draw()
        assert batch.number == number
        assert 10 <= len(batch.source) <= 16
        assert len(batch.source) == len(batch.target)
        assert batch.source.lengths.max() <= 5
        assert batch.words == batch.source.lengths.sum() + batch.target.lengths.sum()


def test_every_pair_comes_before_any_comes_again() -> None:
    corpus = make_corpus({"de": 40})
    tokens = make_tokens(corpus, vocabulary=10_000)
    buckets = make_buckets(corpus, Mixing())
    batches = PairBatches(corpus, tokens, buckets, size=1000, longest=9, seed=1)
    assert len(batches.draw().source) == 40


def test_the_same_seed_draws_the_same_and_another_does_not() -> None:
    first, same, other = _batches(seed=1), _batches(seed=1), _batches(seed=2)
    assert torch.equal(first.draw().source.ids, same.draw().source.ids)
    assert not torch.equal(first.draw().source.ids, other.draw().source.ids)


def test_batches_go_on_where_the_state_was_taken() -> None:
    batches, resumed = _batches(), _batches(seed=9)
    for _ in range(3):
        batches.draw()
    resumed_order_of = _batches()  # the order of a bucket comes from the seed
    resumed_order_of.load_state_dict(batches.state_dict())
    for _ in range(3):
        ours, theirs = batches.draw(), resumed_order_of.draw()
        assert torch.equal(ours.source.ids, theirs.source.ids)
        assert ours.number == theirs.number
    with pytest.raises(TypeError, match="bug"):
        resumed.load_state_dict({"cursor": 0, "drawn": 0})


def test_the_teacher_comes_with_the_pairs_it_knows() -> None:
    batch = _batches(taught=30).draw()
    assert 0 < len(batch.taught) < len(batch.target)
    assert batch.teacher.shape == (len(batch.taught), 4)
    assert _batches().draw().taught.shape == (0,)
