"""What is read of a long text gives the tokens that all of it would have given."""

from __future__ import annotations

import json
import random
import threading
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import AddedToken, models, normalizers, pre_tokenizers, processors

from service.errors import InputError
from service.inference.encoder import Encoder
from service.inference.request import EmbedOptions, prepare
from service.text.beginning import BLANK, BLANK_OR_IDEOGRAPH, CHARACTERS_EACH, tokenize_beginnings
from service.text.boundaries import boundary_of
from service.text.tokenizer import HuggingFaceTokenizer, Tokenizer, Tokens
from service.text.vocabulary import NgramPlan, NgramTokenizer, Vocabulary, WordTokenizer

MAX_TOKENS = 6
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
PIECES = [*"abcdefgé猫犬'.ά", "##b", "##c", "##ab", "on", "σ", "##ς", "##σ"]
AROUND = processors.TemplateProcessing(
    single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
)


def _bert() -> tokenizers.Tokenizer:
    vocabulary = {piece: id for id, piece in enumerate([*SPECIAL, *PIECES])}
    tokenizer = tokenizers.Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = AROUND
    tokenizer.add_special_tokens([AddedToken("[MASK]", lstrip=True, normalized=False)])
    return tokenizer


def _byte_level() -> tokenizers.Tokenizer:
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {piece: id for id, piece in enumerate([*alphabet, "ab", "Ġa", "ĠĠ"])}
    merges = [("a", "b"), ("Ġ", "a"), ("Ġ", "Ġ")]
    tokenizer = tokenizers.Tokenizer(models.BPE(vocabulary, merges))
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return tokenizer


def _words() -> tokenizers.Tokenizer:
    vocabulary = {piece: id for id, piece in enumerate([*SPECIAL, *PIECES])}
    tokenizer = tokenizers.Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Whitespace(), pre_tokenizers.Digits(individual_digits=True)]
    )
    return tokenizer


_VOCABULARY = Vocabulary(lower=True, unknown_buckets=50, words=tuple(PIECES))
TOKENIZERS: dict[str, Tokenizer] = {
    "bert": HuggingFaceTokenizer(_bert().to_str()),
    "byte level": HuggingFaceTokenizer(_byte_level().to_str()),
    "words": HuggingFaceTokenizer(_words().to_str()),
    "vocabulary": WordTokenizer(_VOCABULARY),
    "n-grams": NgramTokenizer(
        _VOCABULARY.model_copy(update={"ngrams": NgramPlan(sizes=(2,), buckets=20)})
    ),
}

# What might join, part or be dropped across a boundary.
_JOINING = ["\u0301", "\u0308", "\u3000", "\xa0", "\u200d", "[MASK]", "n't"]
CHARACTERS = st.sampled_from([*"abconé  \t\n\r猫犬かΣσς'’-.,1½", *_JOINING])
LONG = CHARACTERS_EACH * MAX_TOKENS


def _ids(tokens: Tokens) -> list[list[int]]:
    """Return the ids of each token; rows of n-grams are padded to the longest of a text."""
    return [np.trim_zeros(np.atleast_1d(token), "b").tolist() for token in tokens]


@pytest.mark.parametrize("kind", TOKENIZERS)
@settings(max_examples=150, deadline=None)
@given(parts=st.lists(CHARACTERS, max_size=60), times=st.integers(1, 30))
def test_what_is_read_gives_the_tokens_of_the_whole(
    kind: str, parts: list[str], times: int
) -> None:
    tokenizer, text = TOKENIZERS[kind], "".join(parts * times)
    # Texts are read to their end where so many tokens are wanted.
    whole = tokenizer.encode([text], max_tokens=4 * len(text) + 3)
    cut = tokenizer.encode([text, "a"], max_tokens=MAX_TOKENS)
    around = len(tokenizer.encode([""], max_tokens=9).tokens[0])
    kept = _ids(whole.tokens[0])
    if len(kept) > MAX_TOKENS and around:
        kept = [*kept[: MAX_TOKENS - 1], kept[-1]]
    assert _ids(cut.tokens[0]) == kept[:MAX_TOKENS]
    assert (cut.truncated == [0]) is (whole.full_lengths[0] > MAX_TOKENS)
    if 0 in cut.partly_read:
        assert MAX_TOKENS < cut.full_lengths[0] <= whole.full_lengths[0]
    else:
        assert cut.full_lengths[0] == whole.full_lengths[0]


@pytest.mark.parametrize("kind", TOKENIZERS)
def test_of_a_long_text_little_is_read(kind: str) -> None:
    found = TOKENIZERS[kind].encode(["a b " * 100_000], max_tokens=MAX_TOKENS)
    assert found.partly_read == {0}
    assert found.full_lengths[0] < 4 * LONG


def test_a_beginning_with_too_few_tokens_is_followed_by_a_longer_one() -> None:
    text = " " * (LONG * 40) + "a b c d e f g h i"
    found = TOKENIZERS["bert"].encode([text], max_tokens=MAX_TOKENS)
    assert found.full_lengths == [11], "the blanks are no tokens, so all was read"
    assert not found.partly_read
    sizes: list[int] = []

    def tokenize(texts: list[str]) -> list[list[str]]:
        sizes.extend(map(len, texts))
        return [text.split() for text in texts]

    text = ("a" * 50 + " ") * 400
    read, _, partly = tokenize_beginnings([text, "a"], tokenize, tokens=MAX_TOKENS, boundary=BLANK)
    assert [len(one.split()) > MAX_TOKENS for one in read] == [True, False]
    assert partly == {0}
    assert sizes[1] == 1
    assert sizes[0] < sizes[2] < len(text), "the first was too short, and the last is not all"


def test_a_word_without_an_end_is_read_whole() -> None:
    text = "a" * 50 * LONG
    read, _, partly = tokenize_beginnings([text], list, tokens=MAX_TOKENS, boundary=BLANK)
    assert read == [text]
    assert not partly


def test_a_refusal_says_how_much_was_read(tiny_bundle: Path) -> None:
    encoder = Encoder(tiny_bundle)
    encoder.towers["*"] = replace(encoder.towers["*"], tokenizer=TOKENIZERS["bert"])
    whole = EmbedOptions(truncate=False)
    with pytest.raises(InputError, match=r"has 102 tokens; tiny takes at most 64\."):
        prepare(encoder, ["a b " * 50], whole)
    with pytest.raises(InputError, match=r"has at least \d{3,4} tokens; tiny takes at most 64\."):
        prepare(encoder, ["a b " * 50_000], whole)


def test_the_left_end_is_cut_off_the_whole() -> None:
    text = "a b " * 10_000 + "c"
    found = TOKENIZERS["bert"].encode([text], max_tokens=MAX_TOKENS, cut="left")
    assert found.full_lengths == [20_003]
    assert not found.partly_read


@pytest.mark.parametrize(
    ("tokenizer", "boundary"),
    [(_bert(), BLANK_OR_IDEOGRAPH), (_byte_level(), BLANK), (_words(), BLANK)],
)
def test_what_is_known_to_part_texts(tokenizer: tokenizers.Tokenizer, boundary: object) -> None:
    assert boundary_of(tokenizer.to_str()) is boundary


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("added_tokens", [{"content": "two words", "single_word": False}]),
        ("added_tokens", [{"content": "word", "single_word": True}]),
        ("added_tokens", [{"content": "猫", "single_word": False}]),
        ("normalizer", {"type": "Precompiled", "precompiled_charsmap": ""}),
        ("normalizer", {"type": "Sequence", "normalizers": [{"type": "Replace"}]}),
        ("pre_tokenizer", None),
        ("pre_tokenizer", {"type": "Metaspace"}),
        ("pre_tokenizer", {"type": "Digits"}),
        ("pre_tokenizer", {"type": "ByteLevel", "use_regex": False}),
        (
            "pre_tokenizer",
            {"type": "Sequence", "pretokenizers": [{"type": "Whitespace"}, {"type": "Split"}]},
        ),
    ],
)
def test_of_other_parts_nothing_is_promised(part: str, value: object) -> None:
    assert boundary_of(json.dumps(json.loads(_bert().to_str()) | {part: value})) is None


def test_a_long_text_keeps_no_other_thread_waiting() -> None:
    """The library lets go of Python's lock for lists alone."""
    tokenizer = HuggingFaceTokenizer(_bert().to_str())
    chosen = random.Random(0)
    text = "".join(chosen.choices("abcdefg. ", k=1_000_000))
    longest, over = 0.0, threading.Event()

    def tick() -> None:
        nonlocal longest
        last = time.perf_counter()
        while not over.is_set():
            time.sleep(0.001)
            now = time.perf_counter()
            longest, last = max(longest, now - last), now

    ticking = threading.Thread(target=tick)
    ticking.start()
    began = time.perf_counter()
    found = tokenizer.encode([text], max_tokens=512, cut="left")
    took = time.perf_counter() - began
    over.set()
    ticking.join()
    assert found.truncated == [0]
    assert longest < took / 4
