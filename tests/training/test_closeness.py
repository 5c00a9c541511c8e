"""A last map towards people's scores."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import numpy.typing as npt
import pytest
import torch
from scipy.stats import pearsonr

from service.text.vocabulary import Vocabulary, WordTokenizer
from tests.training.made import make_corpus
from training.closeness import (
    ClosenessPlan,
    TaughtTranslations,
    fit_closeness,
    taught_translations,
)
from training.data.mixing import Mixing
from training.data.scored_pairs import ScoredPairs
from training.encoders.static import StaticEncoder
from training.teacher import TeacherVectors

WIDTH, HEEDED = 16, 6
WORDS = tuple(map("".join, product("abcdefgh", "aeiouy", "lmnrst")))
TOKENIZER = WordTokenizer(Vocabulary(lower=True, words=WORDS))
Vectors = npt.NDArray[np.float32]


@cache
def table() -> torch.Tensor:
    generator = torch.Generator().manual_seed(3)
    return torch.randn(TOKENIZER.vocabulary_size, WIDTH, generator=generator)


def encoder() -> StaticEncoder:
    return StaticEncoder(table())


def unit(vectors: Vectors) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    divided: Vectors = vectors / lengths
    return divided


def vectors_of(texts: list[str]) -> Vectors:
    ids = [[TOKENIZER.word_id(word) for word in text.split()] for text in texts]
    return unit(np.stack([table()[row].mean(0).numpy() for row in ids]))


def judged(count: int, *, seed: int) -> ScoredPairs:
    """Return pairs whose scores heed the first few directions of the vectors alone."""
    random = np.random.default_rng(seed)
    texts = [" ".join(random.choice(WORDS, 3)) for _ in range(2 * count)]
    heeded = unit(vectors_of(texts)[:, :HEEDED])
    scores = (heeded[:count] * heeded[count:]).sum(1)
    return ScoredPairs("made", "de", texts[:count], texts[count:], scores.tolist())


def agreement(pairs: ScoredPairs, found: Vectors) -> float:
    first, second = (unit(vectors_of(texts) @ found) for texts in (pairs.first, pairs.second))
    return float(pearsonr((first * second).sum(1), pairs.scores).statistic)


def plan(*, kept: float, steps: int = 150) -> ClosenessPlan:
    return ClosenessPlan(steps=steps, kept=kept, longest=64, seed=0)


def translated(count: int) -> TaughtTranslations:
    """Return sentences beside themselves, with their own vectors for the teacher's."""
    texts = judged(count, seed=9).first
    return TaughtTranslations(texts, texts, vectors_of(texts))


def test_unseen_pairs_come_to_agree_with_people() -> None:
    unseen = judged(300, seed=2)
    found = fit_closeness(
        encoder(), TOKENIZER, [judged(900, seed=1)], [], plan(kept=0.0, steps=400)
    )
    before = agreement(unseen, np.eye(WIDTH, dtype=np.float32))
    assert before < 0.7
    assert agreement(unseen, found) > before + 0.1


def test_what_is_kept_stays_where_it_was() -> None:
    texts = translated(400)
    turned = {}
    for kept in (0.0, 1000.0):
        found = fit_closeness(encoder(), TOKENIZER, [judged(600, seed=1)], [texts], plan(kept=kept))
        now = unit(vectors_of(texts.sentences) @ found)
        turned[kept] = 1 - float((now * vectors_of(texts.sentences)).sum(1).mean())
    assert turned[1000.0] < 0.2 * turned[0.0]


def test_the_teacher_finds_more_where_it_counts_more() -> None:
    texts = translated(400)
    turn = np.random.default_rng(4).normal(scale=0.25, size=(WIDTH, WIDTH)).astype(np.float32)
    teacher = unit(texts.teacher @ (np.eye(WIDTH, dtype=np.float32) + turn))
    elsewhere = replace(texts, teacher=teacher)

    def found_by_it(taught: float) -> float:
        weights = replace(plan(kept=1.0), taught=taught)
        found = fit_closeness(encoder(), TOKENIZER, [judged(600, seed=1)], [elsewhere], weights)
        cosines = unit(vectors_of(texts.sentences) @ found) @ teacher.T
        return float((cosines.argmax(axis=1) == np.arange(len(teacher))).mean())

    assert found_by_it(8.0) > found_by_it(0.0) + 0.1


def test_a_fit_is_the_same_again() -> None:
    pairs, texts = judged(200, seed=1), translated(100)
    one, other = (
        fit_closeness(encoder(), TOKENIZER, [pairs], [texts], plan(kept=1.0)) for _ in range(2)
    )
    np.testing.assert_array_equal(one, other)


def test_translations_come_with_the_vectors_of_their_own_english() -> None:
    corpus = make_corpus({"de": 6, "fr": 3})
    english = corpus.sentences_of("en")
    taught = english[english != english[1]]  # all but one of German's
    row = np.full(len(corpus.texts), -1, dtype=np.int64)
    row[taught] = np.arange(len(taught))
    vectors = np.random.default_rng(0).normal(size=(len(taught), 4)).astype(np.float16)
    teacher = TeacherVectors(row, vectors)
    found = taught_translations(corpus, teacher, Mixing(), without=(), most=1200, seed=0)
    assert [len(of.sentences) for of in found] == [5, 3]
    for of in found:
        for sentence, translation, vector in zip(of.sentences, of.english, of.teacher, strict=True):
            assert translation == f"en {sentence}"
            np.testing.assert_array_equal(vector, vectors[row[corpus.texts.index(translation)]])


@pytest.mark.parametrize("without", [(), ("made",)])
def test_sources_that_are_no_sentences_are_left_out(without: tuple[str, ...]) -> None:
    corpus = make_corpus({"de": 4})
    row = np.arange(len(corpus.texts))
    teacher = TeacherVectors(row, np.ones((len(row), 4), dtype=np.float16))
    found = taught_translations(corpus, teacher, Mixing(), without=without, most=1200, seed=0)
    assert len(found) == (0 if without else 1)
