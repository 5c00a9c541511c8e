"""Cut text into words, in the manner of the Penn treebank, whatever the language.

For vocabularies of whole words. Training and service cut by this one rule, so a word that was
learned is found again.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

_LAST_POINT = 0x20000
"""Beyond it are only Han characters (named below), tags and private use."""

_HAN_KANA = "\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"

_CLITICS = "s|m|d|re|ve|ll"


def split_words(text: str, *, lower: bool) -> list[str]:
    """Return the words of `text`, NFKC-normalised.

    - runs of letters and their marks are words; hyphens inside stay
    - English clitics stand apart (do n't, it 's), and so do elided words (l', dell')
    - numbers stay whole with their separators; any other visible character stands alone
    - Han and kana characters stand alone, since nothing says where their words end. Departure: the
      treebank's rules are for English, and neither Hermann & Blunsom 2013 nor Chidambaram et al.
      2018 say how they cut Chinese.

    Args:
        text: Any text.
        lower: Whether words are put into lower case (Hermann & Blunsom 2013, section 4.1).
    """
    normal = unicodedata.normalize("NFKC", text)
    return _pattern().findall(normal.lower() if lower else normal)


@cache
def _pattern() -> re.Pattern[str]:
    # Python's \w lacks vowel signs (Devanagari, Thai, Arabic ...), which belong to words.
    letter = f"(?:(?![{_HAN_KANA}])[{_ranges('LM')}])"
    return re.compile(
        "|".join(
            (
                rf"{letter}+?(?=n['’]t(?!{letter}))",  # do | n't
                rf"n['’]t(?!{letter})",
                rf"['’](?:{_CLITICS})(?!{letter})",  # it | 's
                rf"{letter}+(?=['’](?:{_CLITICS})(?!{letter}))",
                rf"{letter}+['’](?={letter})",  # l' | homme
                rf"{letter}+(?:-{letter}+)*",
                r"\d+(?:[.,:]\d+)*",
                r"\S",
            )
        ),
        re.IGNORECASE,
    )


def _ranges(kinds: str) -> str:
    """Return the characters whose Unicode category begins with one of `kinds`, for a class."""
    ranges: list[list[int]] = []
    for point in range(_LAST_POINT):
        if unicodedata.category(chr(point))[0] in kinds:
            if ranges and ranges[-1][1] == point - 1:
                ranges[-1][1] = point
            else:
                ranges.append([point, point])
    return "".join(f"{chr(low)}-{chr(high)}" for low, high in ranges)
