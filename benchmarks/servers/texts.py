"""What is encoded: many different texts of words of the demo corpus, the same in every run."""

from __future__ import annotations

import random

import orjson

from service.shipped import DEMO_CORPUS


def short_texts(count: int, *, seed: int = 1) -> list[str]:
    """Return texts of 5 to 16 English words: 15 tokens of all-MiniLM-L6-v2 on average."""
    return _texts(count, 5, 16, seed)


def mixed_texts(count: int, *, seed: int = 2) -> list[str]:
    """Return texts of 3 to 160 English words: 5 to 200 tokens."""
    return _texts(count, 3, 160, seed)


def _texts(count: int, least: int, most: int, seed: int) -> list[str]:
    chance = random.Random(seed)
    rows = map(orjson.loads, DEMO_CORPUS.read_bytes().splitlines())
    words = " ".join(row["text"] for row in rows if row["language"] == "en").split()
    found = []
    for _ in range(count):
        length, start = chance.randint(least, most), chance.randrange(len(words) - most)
        piece = words[start : start + length]
        piece[chance.randrange(length)] = chance.choice(words)  # hardly one is like another
        found.append(" ".join(piece))
    return found
