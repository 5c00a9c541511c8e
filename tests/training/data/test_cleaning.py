"""Cleaning rules and their counts."""

from __future__ import annotations

import pytest

from training.data.cleaning import (
    Cleaner,
    CleaningRules,
    cleaning_table,
    comparison_key,
    make_sentence,
    to_nfc,
)


def test_the_key_is_blind_to_case_blanks_and_punctuation() -> None:
    assert comparison_key("Don't  STOP!") == comparison_key("dont stop")
    assert comparison_key("¿Qué tal?") == comparison_key("qué tal")
    assert comparison_key("猫。") == "猫"
    assert comparison_key("… – !") == ""


def test_vowel_signs_are_no_punctuation() -> None:
    assert comparison_key("लड़का") != comparison_key("लड़की")


def test_nfc_composes_and_strips() -> None:
    assert to_nfc(" e\u0301te\u0301 ") == "été"


@pytest.mark.parametrize(
    ("left", "right", "reason"),
    [
        ("Guten Tag", "Good day", "kept"),
        ("...", "Good day", "empty"),
        ("a" * 41, "b" * 41, "long"),
        ("a" * 39, "b", "ratio"),
        ("Madrid!", "madrid", "copy"),
        ("Was ist das", "What is this?", "evaluation"),
        ("Was ist das?", "That.", "held out"),
    ],
)
def test_each_rule_takes_its_pair_and_counts_it(left: str, right: str, reason: str) -> None:
    cleaner = Cleaner(
        CleaningRules(longest=40, ratio=4.0),
        evaluation=[comparison_key("what is this")],
        held_out=[comparison_key("Was ist das?")],
    )
    kept = cleaner.judge("mine", make_sentence(left), make_sentence(right))
    assert kept == (reason == "kept")
    assert cleaner.counts == {"mine": {reason: 1}}


def test_a_duplicate_is_seen_in_either_direction() -> None:
    cleaner = Cleaner(CleaningRules())
    first, second = make_sentence("Guten Tag"), make_sentence("Good day")
    assert cleaner.judge("a", first, second)
    assert not cleaner.judge("b", make_sentence("good DAY!"), make_sentence("guten tag"))
    assert cleaner.counts["b"]["duplicate"] == 1


def test_a_sentence_beside_itself_is_no_copy() -> None:
    cleaner = Cleaner(CleaningRules(), evaluation=[comparison_key("what is this")])
    first, again, asked = map(make_sentence, ("Good day.", "good day", "What is this?"))
    assert cleaner.judge("a", first, first)
    assert not cleaner.judge("a", again, again)
    assert not cleaner.judge("a", asked, asked)
    assert cleaner.counts["a"] == {"kept": 1, "duplicate": 1, "evaluation": 1}


def test_the_table_sums_by_reason() -> None:
    cleaner = Cleaner(CleaningRules())
    for source in ("a", "b"):
        cleaner.judge(source, make_sentence("Guten Tag"), make_sentence("Good day"))
    last = cleaning_table(cleaner.counts).splitlines()[-1].split()
    assert last == ["all", "1", "0", "0", "0", "0", "0", "0", "1"]
