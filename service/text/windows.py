"""Cut a text into passages of a bounded number of words, with or without regard to sentences.

A word is a run of visible characters; in scripts that put no blanks between words (Han, kana,
Thai, Lao, Khmer, Burmese) each character counts as one.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence

from service.errors import InputError
from service.text.sentences import Passage, split_sentences, trim

_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\U00020000-\U0003134f"
)
_WORD = re.compile(rf"[{_UNSPACED}]|[^\s{_UNSPACED}]+")


def split_words(text: str) -> list[Passage]:
    """Return the words of `text` with their places."""
    return [Passage(found[0], *found.span()) for found in _WORD.finditer(text)]


def split_windows(text: str, *, words: int = 128, stride: int = 64) -> Iterator[Passage]:
    """Give windows of `words` words, each `stride` words after the one before.

    128 and 64 are those of Yu, Li & Oguz 2018, section 4.4. The last window ends with the text, so
    every word is in one; a short text is one window, a blank one has none.

    Raises:
        InputError: A window or stride below 1, or a stride that would leave words out.
    """
    if words < 1:
        raise InputError("A window has at least 1 word.", field="window_words", given=words)
    if not 1 <= stride <= words:
        raise InputError(
            f"The stride must lie in 1 to {words}, the window, or words would be left out.",
            field="stride_words",
            given=stride,
        )
    return _windows(text, words, stride)


def split_passages(
    text: str, *, language: str | None = None, words: int = 128, overlap_sentences: int = 0
) -> list[Passage]:
    """Return passages of whole sentences, each as many as fit into `words` words.

    A sentence that is longer than that becomes windows of its own, so no passage passes `words`.

    Args:
        text: Any text.
        language: Its code, as for `split_sentences`.
        words: Of the longest passage.
        overlap_sentences: How many sentences at the end of a passage the next begins with, as far
            as they fit.
    """
    if words < 1:
        raise InputError("A passage has at least 1 word.", field="words", given=words)
    counted = [
        (piece, len(_WORD.findall(piece.text)))
        for sentence in split_sentences(text, language=language)
        for piece in _within(sentence, words)
    ]
    passages: list[Passage] = []
    begin = 0
    while begin < len(counted):
        end = _fill(counted, begin, words)
        passages.append(trim(text, counted[begin][0].start, counted[end - 1][0].end))
        if end == len(counted):
            break
        # At least one sentence further than the last time, and the next one must fit as well.
        back = end
        room = words - counted[end][1]
        while back > max(begin + 1, end - overlap_sentences) and room >= counted[back - 1][1]:
            back -= 1
            room -= counted[back][1]
        begin = back
    return passages


def halve(passage: Passage) -> list[Passage]:
    """Return the two halves of `passage`, parted between words where it has several."""
    words = split_words(passage.text)
    middle = words[len(words) // 2].start if len(words) > 1 else len(passage.text) // 2
    parts = [trim(passage.text, 0, middle), trim(passage.text, middle, len(passage.text))]
    return [
        Passage(part.text, passage.start + part.start, passage.start + part.end)
        for part in parts
        if part.text
    ]


def _windows(text: str, words: int, stride: int) -> Iterator[Passage]:
    places: deque[tuple[int, int]] = deque()
    last_is_covered = True
    for found in _WORD.finditer(text):
        places.append(found.span())
        last_is_covered = len(places) == words
        if last_is_covered:
            yield trim(text, places[0][0], places[-1][1])
            for _ in range(stride):
                places.popleft()
    if not last_is_covered:
        yield trim(text, places[0][0], places[-1][1])


def _within(sentence: Passage, words: int) -> list[Passage]:
    return [
        Passage(piece.text, sentence.start + piece.start, sentence.start + piece.end)
        for piece in split_windows(sentence.text, words=words, stride=words)
    ]


def _fill(counted: Sequence[tuple[Passage, int]], begin: int, words: int) -> int:
    """Return the end (exclusive) of the longest run from `begin` that has at most `words`."""
    end, total = begin, 0
    while end < len(counted) and (end == begin or total + counted[end][1] <= words):
        total += counted[end][1]
        end += 1
    return end
