"""A data folder of made-up words, as large as a benchmark needs: lengths and frequencies of a text.

Nothing can be learned from it; words are drawn by Zipf's law, lengths from a log-normal
distribution like that of the sentences of Tatoeba and the news.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

SOURCE = "made_up"
_WORDS = 20_000  # of a language
_MEAN_LENGTH = 12  # words of a sentence


def write_made_up_text(folder: Path, languages: tuple[str, ...], *, rows: int) -> None:
    """Write `rows` n-way lines a language to `folder`/parallel/made_up."""
    random = np.random.default_rng(0)
    target = folder / "parallel" / SOURCE
    target.mkdir(parents=True)
    lengths = np.clip(random.lognormal(np.log(_MEAN_LENGTH), 0.5, rows), 2, 50).astype(int)
    shares = 1 / np.arange(1, _WORDS + 1)
    for language in languages:
        words = _make_words(random)
        lines = (
            " ".join(words[i] for i in random.choice(_WORDS, length, p=shares / shares.sum()))
            for length in lengths
        )
        (target / f"{language}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _make_words(random: np.random.Generator) -> list[str]:
    """Return as many different words, the frequent ones shorter."""
    consonants, vowels = list("bcdfghjklmnprstvz"), list("aeiou")
    syllables = [a + b + c for a in consonants for b in vowels for c in ("", "n", "r", "s")]
    found: dict[str, None] = {}
    while len(found) < _WORDS:
        count = 1 + min(4, int(np.log10(10 + len(found)) * random.random()))
        found["".join(random.choice(syllables, count))] = None
    return list(found)
