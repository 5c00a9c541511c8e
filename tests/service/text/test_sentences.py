from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.text.sentences import split_sentences


@pytest.mark.parametrize(
    ("language", "text", "count"),
    [
        ("en", "Dr. Smith came at 3.30 p.m. on Jan. 5. He left. Really?", 3),
        ("de", "Am 3. Oktober kam Dr. Müller z. B. nach Berlin. Es regnete.", 2),
        ("es", "¿Qué hora es? Son las tres.", 2),
        ("ru", "Он пришёл. Она ушла! Почему?", 3),
        ("ja", "猫は眠っている。犬は走る！本当？", 3),
        ("zh", "他来了。她走了！为什么？", 3),
        ("hi", "वह आया। वह गया।", 2),
        ("ar", "هل رأيته؟ نعم رأيته.", 2),
        ("xx", "One. Two.", 2),  # a language nobody knows
        (None, "他来了。 वह आया। Two.", 3),
    ],
)
def test_sentences_are_found_in_any_language(language: str | None, text: str, count: int) -> None:
    assert len(split_sentences(text, language=language)) == count


def test_paragraphs_part_sentences_and_blank_text_has_none() -> None:
    assert [s.text for s in split_sentences("A title\n\nA line\nbroken in two.")] == [
        "A title",
        "A line\nbroken in two.",
    ]
    assert split_sentences("") == split_sentences(" \n\t ") == []


def test_what_has_no_utf8_form_ends_nothing() -> None:
    # What Python reads from a pipe that holds Latin-1.
    text = "caf\udce9 is open. Come in."
    found = split_sentences(text)
    assert [s.text for s in found] == ["caf\udce9 is open.", "Come in."]
    assert [text[s.start : s.end] for s in found] == [s.text for s in found]


@pytest.mark.parametrize("blank", ["\u00a0", "\u202f", "\u3000", "\u2028", "\x85", "\n\u2003"])
def test_a_wide_blank_may_stand_before_a_full_stop(blank: str) -> None:
    text = f"Take vitamin B{blank}. It helps."
    found = split_sentences(text)
    assert found[-1].text.endswith("It helps.")
    assert [text[s.start : s.end] for s in found] == [s.text for s in found]


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])), st.sampled_from(["en", "ja"]))
def test_no_visible_character_is_lost(text: str, language: str) -> None:
    sentences = split_sentences(text, language=language)
    assert all(text[s.start : s.end] == s.text for s in sentences)
    covered = "".join(s.text for s in sentences)
    assert "".join(covered.split()) == "".join(text.split())
    assert all(a.end <= b.start for a, b in itertools.pairwise(sentences))
