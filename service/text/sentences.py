"""Where the sentences of a text begin and end, in any language.

The rules and abbreviations are sentencex's (Wikimedia; some 300 languages, those it does not know
fall back on a relative or on English). Here they become spans that cover every visible character
of the text once, so that nothing is lost between two sentences.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sentencex import get_sentence_boundaries

from service.text.clean import clean

FALLBACK_LANGUAGE = "en"
"""Whose abbreviations are spared where the language is not known; full stops of every script end
a sentence all the same."""

_WIDE_BLANK = re.compile(r"[^\S\x00-\x7f](?=\.)")
"""A no-break space or the like before a full stop: after a capital letter (`vitamin B .`) the rules
take it for one byte, and panic."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of a text: `text` is `whole[start:end]`, in characters, without blanks around."""

    text: str
    start: int
    end: int


def split_sentences(text: str, *, language: str | None = None) -> list[Passage]:
    """Return the sentences of `text`, in order; a blank text has none.

    Args:
        text: Any text.
        language: Its code, such as `de`, for the abbreviations; English's where None.
    """
    # Cleaning keeps every place, and lone surrogates have no form that the rules could read.
    plain = _WIDE_BLANK.sub(" ", clean(text))
    boundaries = get_sentence_boundaries(language or FALLBACK_LANGUAGE, plain)
    sentences = (trim(text, row["start_index"], row["end_index"]) for row in boundaries)
    return [sentence for sentence in sentences if sentence.text]


def trim(whole: str, start: int, end: int) -> Passage:
    """Return the passage of `whole` from `start` to `end`, less the blanks at both ends."""
    piece = whole[start:end]
    left = start + len(piece) - len(piece.lstrip())
    piece = piece.strip()
    return Passage(piece, left, left + len(piece))
