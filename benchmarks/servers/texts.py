"""What is encoded: many different texts of words of the demo corpus, the same in every run."""

from __future__ import annotations

import random
from collections.abc import Iterable

import orjson

from service.shipped import DEMO_CORPUS

LONGEST = 160
"""Words: about 200 tokens of all-MiniLM-L6-v2."""


def short_texts(count: int, *, seed: int = 1) -> list[str]:
    """Return texts of 5 to 16 English words: 15 tokens of all-MiniLM-L6-v2 on average."""
    return _random_texts(count, 5, 16, seed)


def mixed_texts(count: int, *, seed: int = 2) -> list[str]:
    """Return texts of 3 to 160 English words: 5 to 200 tokens."""
    return _random_texts(count, 3, LONGEST, seed)


def texts_of_lengths(lengths: Iterable[int], *, seed: int) -> list[str]:
    """Return a text of so many English words each, of at most `LONGEST`."""
    return _texts(lengths, LONGEST, random.Random(seed))


def _random_texts(count: int, least: int, most: int, seed: int) -> list[str]:
    chance = random.Random(seed)
    return _texts((chance.randint(least, most) for _ in range(count)), most, chance)


def _texts(lengths: Iterable[int], most: int, chance: random.Random) -> list[str]:
    rows = map(orjson.loads, DEMO_CORPUS.read_bytes().splitlines())
    words = " ".join(row["text"] for row in rows if row["language"] == "en").split()
    found = []
    for length in lengths:
        start = chance.randrange(len(words) - most)
        piece = words[start : start + length]
        piece[chance.randrange(length)] = chance.choice(words)  # hardly one is like another
        found.append(" ".join(piece))
    return found
