"""Tokens by the vocabulary of each language."""

from __future__ import annotations

from service.text.vocabulary import Vocabulary, WordTokenizer
from training.data.parallel_rows import MISSING
from training.language_vocabularies import tokenize_by_language, tokenize_columns

TOKENIZERS = {
    "en": WordTokenizer(Vocabulary(lower=True, words=("the", "house", "die"))),
    "de": WordTokenizer(Vocabulary(lower=True, words=("die", "haus"))),
}


def test_the_same_word_has_another_id_in_another_language() -> None:
    table = tokenize_by_language(
        ["die Haus", "the house die", "die", ""],
        ["de", "en", "en", "de"],
        TOKENIZERS,
        longest=2,
    )
    rows = [table.ids[a:b].tolist() for a, b in zip(table.offsets, table.offsets[1:], strict=False)]
    assert rows == [[2, 3], [2, 3], [4], []]


def test_columns_of_held_out_rows() -> None:
    columns = {"en": ["the house", ""], "de": ["Haus", "die"], "xx": ["?", "?"]}
    rows, table = tokenize_columns(columns, TOKENIZERS, longest=9)
    assert rows.languages == ("en", "de")
    assert rows.numbers.tolist() == [[0, 1], [MISSING, 2]]
    assert table.ids.tolist() == [2, 3, 3, 2]
