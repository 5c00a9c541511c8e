"""Which sentence pairs are left out, for which reason, counted.

Every rule is explicit and every pair that falls to one is counted, by source; nothing is dropped
in silence.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from training.tables import format_table


@dataclass(frozen=True, slots=True, kw_only=True)
class CleaningRules:
    """What a pair must be to be kept. Lengths are in characters after NFC."""

    longest: int = 400  # of either side
    ratio: float = 6.0  # (longer + 10) / (shorter + 10); 10 spares greetings of one word


REASONS = ("kept", "empty", "long", "ratio", "copy", "evaluation", "held out", "duplicate")
"""What becomes of a pair, in the order in which the rules are asked."""


@cache
def _without_meaning() -> re.Pattern[str]:
    # Python's \W would also take vowel signs (Devanagari, Arabic ...), which tell words apart.
    points = [
        point
        for point in range(sys.maxunicode + 1)
        if unicodedata.category(chr(point))[0] in "PSZC"
    ]
    ranges: list[list[int]] = []
    for point in points:
        if ranges and ranges[-1][1] == point - 1:
            ranges[-1][1] = point
        else:
            ranges.append([point, point])
    body = "".join(f"{re.escape(chr(low))}-{re.escape(chr(high))}" for low, high in ranges)
    return re.compile(f"[{body}]+")


def comparison_key(sentence: str) -> str:
    """Return `sentence` without case, blanks and punctuation: equal keys are the same sentence."""
    return _without_meaning().sub("", sentence.casefold())


def to_nfc(sentence: str) -> str:
    """Return `sentence` in Unicode's composed form, without blanks at its ends."""
    if not (sentence.isascii() or unicodedata.is_normalized("NFC", sentence)):
        sentence = unicodedata.normalize("NFC", sentence)
    return sentence.strip()


class Cleaner:
    """Judges pairs one by one and remembers those it kept, to see duplicates.

    Args:
        rules: Limits on length and ratio.
        evaluation: Comparison keys of sentences of evaluation sets.
        held_out: Comparison keys of sentences set aside for development.
    """

    def __init__(
        self,
        rules: CleaningRules,
        *,
        evaluation: Iterable[str] = (),
        held_out: Iterable[str] = (),
    ) -> None:
        self._rules = rules
        self._evaluation = frozenset(evaluation) - {""}
        self._held_out = frozenset(held_out) - {""}
        self._seen: set[tuple[str, str]] = set()
        self.counts: dict[str, Counter[str]] = {}

    def judge(self, source: str, left: Sentence, right: Sentence) -> bool:
        """Return whether the pair is kept, and count it under `source`.

        A sentence that has no translation is judged beside itself.
        """
        reason = self._reason(left, right)
        self.counts.setdefault(source, Counter())[reason] += 1
        return reason == "kept"

    def _reason(self, left: Sentence, right: Sentence) -> str:
        if not left.key or not right.key:
            return "empty"
        short, long = sorted((len(left.text), len(right.text)))
        if long > self._rules.longest:
            return "long"
        if (long + 10) / (short + 10) > self._rules.ratio:
            return "ratio"
        if left.key == right.key and left is not right:
            return "copy"
        if left.key in self._evaluation or right.key in self._evaluation:
            return "evaluation"
        if left.key in self._held_out or right.key in self._held_out:
            return "held out"
        # Without the languages: the same words twice are the same pair in whatever direction.
        identity = (left.key, right.key) if left.key < right.key else (right.key, left.key)
        if identity in self._seen:
            return "duplicate"
        self._seen.add(identity)
        return "kept"


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence in NFC and its comparison key."""

    text: str
    key: str


def make_sentence(text: str) -> Sentence:
    """Return `text` made ready for `Cleaner.judge`."""
    composed = to_nfc(text)
    return Sentence(composed, comparison_key(composed))


def cleaning_table(counts: dict[str, Counter[str]]) -> str:
    """Return the counts by source as a table for people, with a line of sums."""
    total: Counter[str] = Counter()
    rows = []
    for source, count in counts.items():
        total.update(count)
        rows.append([source, *(f"{count[reason]:,}" for reason in REASONS)])
    rows.append(["all", *(f"{total[reason]:,}" for reason in REASONS)])
    return format_table(["source", *REASONS], rows)
