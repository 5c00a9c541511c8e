"""Vocabularies of words, and of words and character n-grams."""

import json
import zlib
from pathlib import Path

import numpy as np
import pytest

from service.bundle.manifest import TokenizerEntry
from service.errors import BundleError
from service.text.tokenizer import load_tokenizer
from service.text.vocabulary import (
    NgramPlan,
    NgramTokenizer,
    Vocabulary,
    WordTokenizer,
    read_vocabulary,
)

WORDS = Vocabulary(lower=True, unknown_buckets=2, words=("the", "cat", "sleeps", "."))
NGRAMS = WORDS.model_copy(update={"ngrams": NgramPlan(sizes=(3, 4), buckets=50)})


def test_a_word_has_its_own_id_and_an_unknown_one_its_buckets() -> None:
    tokenizer = WordTokenizer(WORDS)
    tokens = tokenizer.encode(["The cat sleeps.", "The zebra", ""], max_tokens=9).tokens
    unknown = 1 + zlib.crc32(b"zebra") % 2
    assert tokens == [[3, 4, 5, 6], [3, unknown], []]
    assert tokenizer.vocabulary_size == 7
    assert tokenizer.decode([0, unknown, 3]) == ["<pad>", "<unknown>", "the"]


def test_cut_at_either_end_is_told() -> None:
    tokenizer = WordTokenizer(WORDS)
    right = tokenizer.encode(["The cat sleeps."], max_tokens=2)
    left = tokenizer.encode(["The cat sleeps."], max_tokens=2, cut="left")
    assert (right.tokens, left.tokens) == ([[3, 4]], [[5, 6]])
    assert right.truncated == left.truncated == [0]
    assert right.full_lengths == [4]


def test_features_are_the_word_and_its_ngrams() -> None:
    features = NgramTokenizer(NGRAMS).features("cat")
    expected = [1 + zlib.crc32(g) % 50 for g in (b"<ca", b"cat", b"at>", b"<cat", b"cat>")]
    assert features == [4, *expected]


def test_a_one_letter_word_and_a_very_long_one() -> None:
    tokenizer = NgramTokenizer(NGRAMS)
    assert len(tokenizer.features(".")) == 2  # the word and `<.>`
    assert len(tokenizer.features("x" * 10_000)) == 1 + 32 + 31


def test_ngram_batches_are_padded_on_all_sides() -> None:
    tokenizer = NgramTokenizer(NGRAMS)
    tokens = tokenizer.encode(["the cat", "", "unheard-of"], max_tokens=8).tokens
    inputs = tokenizer.collate(tokens)
    assert inputs["ids"].shape == (3, 2, 1 + 10 + 9)
    assert inputs["mask"].tolist() == [[1, 1], [0, 0], [1, 0]]
    assert not inputs["ids"][1].any()
    assert (inputs["ids"][0, 0, 6:] == 0).all()
    assert inputs["ids"][2, 0, 1:].all()
    assert inputs["ids"].dtype == np.int64


def test_only_blank_texts_still_make_a_rectangle() -> None:
    tokenizer = NgramTokenizer(NGRAMS)
    inputs = tokenizer.collate(tokenizer.encode([" ", ""], max_tokens=8).tokens)
    assert inputs["ids"].shape == (2, 1, 2)


def test_cutting_ngram_rows_is_told() -> None:
    result = NgramTokenizer(NGRAMS).encode(["the cat sleeps"], max_tokens=2)
    assert len(result.tokens[0]) == 2
    assert result.truncated == [0]
    assert NgramTokenizer(NGRAMS).decode(result.tokens[0]) == ["the", "cat"]


@pytest.mark.parametrize(("vocabulary", "kind"), [(WORDS, WordTokenizer), (NGRAMS, NgramTokenizer)])
def test_a_written_file_is_read_back(vocabulary: Vocabulary, kind: type, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_bytes(vocabulary.write())
    loaded = load_tokenizer(TokenizerEntry(kind="vocabulary", file=path.name), path)
    assert isinstance(loaded, kind)
    before, after = read_vocabulary(vocabulary.write()), loaded
    for one, other in zip(
        before.encode(["The cat, a zebra"], max_tokens=9).tokens,
        after.encode(["The cat, a zebra"], max_tokens=9).tokens,
        strict=True,
    ):
        assert np.array_equal(one, other)


@pytest.mark.parametrize("content", ["[]", "{}", json.dumps({"lower": True, "words": [1]})])
def test_a_damaged_file_is_refused(content: str, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(content)
    with pytest.raises(BundleError, match="vocabulary"):
        load_tokenizer(TokenizerEntry(kind="vocabulary", file=path.name), path)
