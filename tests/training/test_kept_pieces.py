"""Which pieces of a large vocabulary are kept."""

from __future__ import annotations

import numpy as np
import pytest

from training.data.corpus import Corpus
from training.kept_pieces import keep_pieces, piece_rows
from training.served_vocabulary import ServedVocabulary

PIECES = ["▁", "a", "b", "c", "z", "▁ab", "ab", "▁abc", "bc", "▁zz", "▁ba"]
SCORES = np.array([-3, -4, -4, -4, -9, -2, -3, -2.5, -3.5, -5, -3], dtype=np.float32)


def keep(count: int, **weights: float) -> ServedVocabulary:
    corpus = Corpus(
        texts=["abc ab abc", "ba ba bc", "abc c", "ba a"],
        language=np.array([0, 1, 0, 1], dtype=np.int16),
        pairs=np.array([[1, 0], [3, 2]], dtype=np.int32),
        source=np.zeros(2, dtype=np.int16),
        languages=("en", "de"),
        sources=("made",),
        held_out={},
        counts={},
    )
    found = keep_pieces(PIECES, SCORES, corpus, count=count, weights=weights, seed=0)
    return ServedVocabulary.of_pieces(found)


def test_pieces_that_occur_are_kept_by_how_often() -> None:
    vocabulary = keep(100)
    assert vocabulary.units[:2] == ["<pad>", "<unk>"]
    assert set(vocabulary.units[2:]) <= set(PIECES)
    assert "▁zz" not in vocabulary.units
    # Of English 3 in 6, of German 3 in 7; the mark of a word's beginning alone 1 in 6 and 2 in 7.
    assert vocabulary.units[2:5] == ["▁abc", "▁", "▁ba"]


def test_characters_come_before_longer_pieces() -> None:
    whole, few = keep(100), keep(5)
    single = [unit for unit in whole.units[2:] if len(unit) == 1]
    assert set(single[: len(few.units) - 2]) & set(few.units)
    longer = [unit for unit in few.units[2:] if len(unit) > 1]
    assert len(few.units) == 5
    assert len(longer) == max(0, 3 - len(single))


def test_a_language_weighs_what_it_is_given() -> None:
    assert keep(100, de=0.01).units[2] == "▁abc"
    assert keep(100, en=0.01).units[2] == "▁ba"


def test_what_is_left_out_is_spelt() -> None:
    vocabulary = keep(100)
    (tokens,) = vocabulary.tokenizer.encode(["abc"], max_tokens=9).tokens
    assert vocabulary.tokenizer.decode(tokens) == ["▁abc"]
    assert vocabulary.tokenizer.text_of(list(map(int, tokens))) == "abc"


def test_rows_are_those_of_the_large_vocabulary() -> None:
    vocabulary = keep(100)
    rows = piece_rows(vocabulary.units, PIECES, unknown=7)
    assert rows[:2] == [7, 7]
    assert [PIECES[row] for row in rows[2:]] == vocabulary.units[2:]
    with pytest.raises(KeyError):
        piece_rows(["nowhere"], PIECES, unknown=7)
