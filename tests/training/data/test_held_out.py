"""Rows for development."""

from __future__ import annotations

from training.data.held_out import MOST_ROWS, first_rows, join_pairs

PAIRS = [
    ("eins", "de", "one", "en"),
    ("zwei", "de", "two", "en"),
    ("drei", "de", "three", "en"),
    ("zwei!", "de", "two", "en"),
    ("trois", "fr", "three", "en"),
    ("deux", "fr", "two", "en"),
    ("quatre", "fr", "four", "en"),
    ("vier", "de", "quatre", "fr"),
]


def test_pairs_that_share_a_sentence_are_one_row_and_full_rows_come_first() -> None:
    assert join_pairs(PAIRS, ("en", "de", "fr")) == {
        "en": ["two", "three", "one", "four", ""],
        "de": ["zwei", "drei", "eins", "", "vier"],
        "fr": ["deux", "trois", "", "quatre", "quatre"],
    }


def test_rows_are_as_many_as_the_papers() -> None:
    columns = {"en": [str(i) for i in range(MOST_ROWS + 5)], "de": ["a", "b"]}
    kept = first_rows(columns)
    assert (len(kept["en"]), kept["en"][-1], kept["de"]) == (4000, "3999", ["a", "b"])
    pairs = ((f"de {i}", "de", f"en {i}", "en") for i in range(MOST_ROWS + 5))
    assert len(join_pairs(pairs, ("en", "de"))["de"]) == 4000
