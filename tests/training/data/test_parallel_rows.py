"""Pairs and n-way text as rows."""

from __future__ import annotations

from collections import Counter

import numpy as np

from tests.training.made import make_corpus, make_tokens
from training.data.corpus import Corpus
from training.data.parallel_rows import MISSING, joined_rows, pair_rows, table_rows, without_long
from training.data.tokens import TokenTable


def corpus_of(*pairs: tuple[str, str]) -> Corpus:
    """Return a corpus of pairs of sentences that begin with their language, `de:Haus`."""
    texts = list(dict.fromkeys(text for pair in pairs for text in pair))
    languages = ("en", "de", "fr")
    return Corpus(
        texts=texts,
        language=np.array([languages.index(text[:2]) for text in texts], dtype=np.int16),
        pairs=np.array([[texts.index(a), texts.index(b)] for a, b in pairs], dtype=np.int32),
        source=np.zeros(len(pairs), dtype=np.int16),
        languages=languages,
        sources=("made",),
        held_out={},
        counts={"made": Counter()},
    )


def readable(corpus: Corpus, rows: np.ndarray) -> set[tuple[str, ...]]:
    return {tuple(corpus.texts[n] if n != MISSING else "" for n in row) for row in rows}


def test_a_row_a_pair() -> None:
    corpus = corpus_of(("de:Haus", "en:house"), ("fr:maison", "de:Haus"))
    rows = pair_rows(corpus)
    assert readable(corpus, rows.numbers) == {
        ("en:house", "de:Haus", ""),
        ("", "de:Haus", "fr:maison"),
    }


def test_pairs_with_the_same_english_sentence_are_joined() -> None:
    corpus = corpus_of(
        ("de:Haus", "en:house"),
        ("fr:maison", "en:house"),
        ("de:Baum", "en:tree"),
        ("de:Heim", "en:house"),
        ("de:Fluss", "fr:fleuve"),
    )
    rows = joined_rows(corpus, "en")
    assert readable(corpus, rows.numbers) == {
        ("en:house", "de:Haus", "fr:maison"),
        ("en:house", "de:Heim", ""),  # a second translation begins a second row
        ("en:tree", "de:Baum", ""),
        ("", "de:Fluss", "fr:fleuve"),
    }
    assert readable(corpus, rows.complete(("fr", "de"))) == {
        ("fr:maison", "de:Haus"),
        ("fr:fleuve", "de:Fluss"),
    }


def test_no_pair_is_lost_when_rows_are_joined() -> None:
    corpus = make_corpus({"de": 40, "fr": 30})
    rows = joined_rows(corpus, "en")
    assert len(rows) == 70
    assert len(rows.complete(("en", "de"))) == 40
    assert len(rows.complete(("en", "xx"))) == 0
    assert len(joined_rows(corpus, "xx")) == 70  # without a pivot they stay pairs


def test_a_table_of_columns() -> None:
    texts, rows = table_rows({"en": ["a", "", "c"], "de": ["A", "B", " "]})
    assert texts == ["a", "c", "A", "B"]
    assert rows.numbers.tolist() == [[0, 2], [MISSING, 3], [1, MISSING]]


def test_long_and_empty_sentences_are_left_out_whole() -> None:
    corpus = corpus_of(("de:Haus", "en:house"), ("fr:maison", "en:house"), ("de:Baum", "en:tree"))
    # de:Haus has 9 tokens, en:tree none, all others 2.
    lengths = [{"de:Haus": 9, "en:tree": 0}.get(text, 2) for text in corpus.texts]
    tokens = TokenTable(
        np.zeros(sum(lengths), dtype=np.int32), np.concatenate([[0], np.cumsum(lengths)])
    )
    kept = without_long(joined_rows(corpus, "en"), tokens, longest=5)
    assert readable(corpus, kept.numbers) == {("en:house", "", "fr:maison")}


def test_nothing_is_left_out_without_need() -> None:
    corpus = make_corpus({"de": 20})
    tokens = make_tokens(corpus)
    assert len(without_long(pair_rows(corpus), tokens, longest=9)) == 20
