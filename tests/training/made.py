"""Small corpora and tokens, made in the test."""

from __future__ import annotations

from collections import Counter

import numpy as np

from training.data.corpus import Corpus
from training.data.tokens import TokenTable

LANGUAGES = ("en", "de", "fr")


def make_corpus(pairs_by_language: dict[str, int], *, source: str = "made") -> Corpus:
    """Return a corpus with so many pairs of each language and English, all sentences different."""
    texts: list[str] = []
    language: list[int] = []
    pairs: list[tuple[int, int]] = []
    for code, count in pairs_by_language.items():
        for number in range(count):
            pairs.append((len(texts), len(texts) + 1))
            texts += [f"{code} {number}", f"en {code} {number}"]
            language += [LANGUAGES.index(code), 0]
    return Corpus(
        texts=texts,
        language=np.array(language, dtype=np.int16),
        pairs=np.array(pairs, dtype=np.int32).reshape(-1, 2),
        source=np.zeros(len(pairs), dtype=np.int16),
        languages=LANGUAGES,
        sources=(source,),
        held_out={},
        counts={source: Counter(kept=len(pairs))},
    )


def make_tokens(corpus: Corpus, *, vocabulary: int = 50, seed: int = 0) -> TokenTable:
    """Return random ids, 1 to 9 a sentence."""
    random = np.random.default_rng(seed)
    lengths = random.integers(1, 10, len(corpus.texts))
    ids = random.integers(2, vocabulary, lengths.sum()).astype(np.int32)
    return TokenTable(ids, np.concatenate([[0], np.cumsum(lengths)]))
