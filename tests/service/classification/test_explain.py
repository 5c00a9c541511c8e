from __future__ import annotations

import numpy as np
import pytest

from service.classification.answers import best_labels
from service.classification.explain import (
    MOST_PARTS,
    Effect,
    effects_of_parts,
    effects_of_pieces,
    leave_out,
    strongest,
)
from service.classification.head import Head
from service.inference.documents import pool_pieces
from service.text.sentences import Passage, split_sentences
from tests.service.classification.samples import DIMENSION, head_manifest, head_weights


def _head(**changes: object) -> Head:
    return Head(head_manifest(**changes), *head_weights())


def test_each_part_is_left_out_once() -> None:
    variants = leave_out("The cat 猫!")
    assert [part.text for part in variants.parts] == ["The", "cat", "猫", "!"]
    assert variants.texts == (" cat 猫!", "The  猫!", "The cat !", "The cat 猫")
    assert leave_out(" ").parts == ()


def test_long_texts_have_several_words_a_part() -> None:
    text = " ".join(f"w{number}" for number in range(100))
    variants = leave_out(text)
    assert len(variants.parts) <= MOST_PARTS
    assert " ".join(part.text for part in variants.parts) == text


def test_an_effect_is_the_difference_that_a_part_makes() -> None:
    parts = [Passage("a", 0, 1), Passage("b", 2, 3)]
    without = np.array([[0.1, 0.9], [0.7, 0.3]], dtype=np.float32)
    effects = effects_of_parts(parts, 0, 0.6, without)
    assert [effect.effect for effect in effects] == pytest.approx([0.5, -0.1])
    assert [effect.part.text for effect in strongest(effects[::-1])] == ["a", "b"]


@pytest.mark.parametrize("count", [2, 100])
def test_effects_of_sentences_are_those_of_the_pool_without_them(count: int) -> None:
    head = _head()
    text = " ".join(f"Sentence {number}." for number in range(count))
    pieces = split_sentences(text)
    vectors = np.random.default_rng(0).standard_normal((count, DIMENSION)).astype(np.float32)
    effects = effects_of_pieces(head, text, pieces, vectors, 1, 0.5, pooling="mean")
    assert len(effects) == min(count, MOST_PARTS)
    assert "".join("".join(e.part.text for e in effects).split()) == "".join(text.split())
    rows = [row for row, p in enumerate(pieces) if p.end > effects[0].part.end]
    rest = head.predict(pool_pieces(vectors[rows], [len(rows)], "mean"))
    assert effects[0].effect == pytest.approx(0.5 - float(rest[0, 1]), abs=1e-6)
    assert isinstance(effects[0], Effect)


def test_unknown_stands_first_below_the_threshold_only() -> None:
    probabilities = np.array([[0.5, 0.3, 0.2], [0.9, 0.05, 0.05]], dtype=np.float32)
    unsure, sure = best_labels(_head(unknown_threshold=0.6), probabilities, 1)
    assert unsure == [{"label": "unknown", "score": 0.5}, {"label": "science", "score": 0.5}]
    assert sure == [{"label": "science", "score": 0.9}]
    assert [len(row) for row in best_labels(_head(), probabilities, None)] == [3, 3]
