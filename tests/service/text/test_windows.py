from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.errors import InputError
from service.text.sentences import Passage
from service.text.windows import halve, split_passages, split_windows, split_words

TEXT = st.text(alphabet="ab .!?\n猫。", max_size=80)


def test_windows_overlap_and_end_with_the_text() -> None:
    text = "a b c d e f g"
    assert [w.text for w in split_windows(text, words=4, stride=2)] == [
        "a b c d",
        "c d e f",
        "e f g",
    ]
    assert [w.text for w in split_windows("a b", words=4, stride=2)] == ["a b"]
    assert list(split_windows(" ")) == []


def test_scripts_without_blanks_are_cut_between_characters() -> None:
    assert [w.text for w in split_windows("猫在窗台上睡觉", words=3, stride=3)] == [
        "猫在窗",
        "台上睡",
        "觉",
    ]
    assert [word.text for word in split_words("das 猫x")] == ["das", "猫", "x"]


@pytest.mark.parametrize(("words", "stride"), [(0, 1), (4, 5), (4, 0)])
def test_windows_that_would_leave_words_out_are_refused(words: int, stride: int) -> None:
    with pytest.raises(InputError):
        split_windows("a b c", words=words, stride=stride)


@given(TEXT, st.integers(1, 6), st.integers(0, 3))
def test_passages_hold_every_word_and_keep_to_their_size(
    text: str, words: int, overlap: int
) -> None:
    passages = split_passages(text, words=words, overlap_sentences=overlap)
    covered = set()
    for passage in passages:
        assert text[passage.start : passage.end] == passage.text
        assert len(split_words(passage.text)) <= words
        covered |= set(range(passage.start, passage.end))
    assert all(i in covered for i, character in enumerate(text) if not character.isspace())
    starts = [p.start for p in passages]
    assert starts == sorted(set(starts))


def test_passages_keep_sentences_whole_and_may_share_one() -> None:
    text = "One two. Three four. Five six."
    assert [p.text for p in split_passages(text, words=4)] == ["One two. Three four.", "Five six."]
    assert [p.text for p in split_passages(text, words=4, overlap_sentences=1)] == [
        "One two. Three four.",
        "Three four. Five six.",
    ]


def test_a_passage_shares_no_more_than_leaves_room_for_its_next_sentence() -> None:
    text = "One two. Three four. Five six. Now these are six words here."
    assert [p.text for p in split_passages(text, words=8, overlap_sentences=2)] == [
        "One two. Three four. Five six.",
        "Five six. Now these are six words here.",
    ]


@given(st.text(alphabet="ab 猫", min_size=2, max_size=30))
def test_halves_make_the_whole(text: str) -> None:
    whole = Passage(text.strip(), 5, 5 + len(text.strip()))
    if len(whole.text) < 2:
        return
    parts = halve(whole)
    assert len(parts) == 2
    assert "".join("".join(p.text for p in parts).split()) == "".join(text.split())
    assert parts[0].start == 5
    assert parts[-1].end == whole.end
