from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import models, normalizers, pre_tokenizers, processors

from service.bundle.manifest import TokenizerEntry
from service.errors import BundleError
from service.inference.encoder import Encoder
from service.text.tokenizer import HuggingFaceTokenizer, Tokenizer, load_tokenizer, pad


@pytest.fixture(scope="module")
def sentencepiece_tokenizer(tiny_encoder: Encoder) -> Tokenizer:
    return tiny_encoder.towers["*"].tokenizer


@pytest.fixture(scope="module")
def huggingface_tokenizer() -> HuggingFaceTokenizer:
    vocabulary = {
        w: i
        for i, w in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "b", "c", "d", "e", "f"])
    }
    tokenizer = tokenizers.Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.add_special_tokens(["[PAD]", "[CLS]", "[SEP]"])
    # A saved truncation must not act behind our back.
    tokenizer.enable_truncation(4)
    return HuggingFaceTokenizer(tokenizer.to_str())


@settings(max_examples=50)
@given(texts=st.lists(st.text(alphabet=st.characters(codec=None), max_size=40), max_size=5))
def test_any_text_gets_known_ids(sentencepiece_tokenizer: Tokenizer, texts: list[str]) -> None:
    result = sentencepiece_tokenizer.encode(texts, max_tokens=10)
    assert len(result.tokens) == len(texts)
    for tokens, full in zip(result.tokens, result.full_lengths, strict=True):
        assert len(tokens) == min(full, 10)
        assert all(0 <= token < sentencepiece_tokenizer.vocabulary_size for token in tokens)


def test_a_huggingface_tokenizer_minds_control_characters_itself() -> None:
    """As BERT's does: it takes them out, where a blank would part the word."""
    tokenizer = tokenizers.Tokenizer(models.WordLevel({"[UNK]": 0, "hyphen": 1}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    ours = HuggingFaceTokenizer(tokenizer.to_str())
    texts = ["hy\x02phen", "hy\x00phen", "hyphen\x07", "\ud800hyphen"]
    assert ours.encode(texts, max_tokens=8).tokens == [[1]] * len(texts)
    assert [piece.id for piece in ours.pieces(texts[0])] == [1]


def test_special_tokens_are_decoded_where_they_are_wanted(
    huggingface_tokenizer: HuggingFaceTokenizer,
) -> None:
    assert huggingface_tokenizer.text_of([2, 4, 5, 3]) == "a b"
    assert huggingface_tokenizer.text_of([2, 4, 5, 3], special=True) == "[CLS] a b [SEP]"


def test_blank_text_has_no_tokens(sentencepiece_tokenizer: Tokenizer) -> None:
    assert sentencepiece_tokenizer.encode(["", " \n "], max_tokens=8).tokens == [[], []]


def test_cut_keeps_the_other_end(sentencepiece_tokenizer: Tokenizer) -> None:
    text = "The cat sleeps on the warm windowsill."
    (whole,) = sentencepiece_tokenizer.encode([text], max_tokens=100).tokens
    right = sentencepiece_tokenizer.encode([text], max_tokens=3, cut="right")
    left = sentencepiece_tokenizer.encode([text], max_tokens=3, cut="left")
    assert right.tokens == [whole[:3]]
    assert left.tokens == [whole[-3:]]
    assert right.truncated == [0]
    assert right.full_lengths == [len(whole)]


@pytest.mark.parametrize("kind", ["sentencepiece_tokenizer", "huggingface_tokenizer"])
def test_ids_are_the_same_alone_and_among_many(kind: str, request: pytest.FixtureRequest) -> None:
    """Few texts and many take different ways through both libraries."""
    tokenizer: Tokenizer = request.getfixturevalue(kind)
    texts = [f"The cat sleeps {'a b c d e ' * (n % 4)} {n}" for n in range(300)]
    many = tokenizer.encode(texts, max_tokens=12)
    some = [tokenizer.encode(texts[n : n + 100], max_tokens=12) for n in (0, 100, 200)]
    alone = [tokenizer.encode([text], max_tokens=12) for text in texts]
    assert many.truncated
    assert many.tokens == [tokens for part in some for tokens in part.tokens]
    assert many.tokens == [part.tokens[0] for part in alone]
    assert many.full_lengths == [part.full_lengths[0] for part in alone]


def test_special_tokens_survive_a_cut(huggingface_tokenizer: HuggingFaceTokenizer) -> None:
    encode = huggingface_tokenizer.encode
    assert encode(["a b c d e f"], max_tokens=100).tokens == [[2, 4, 5, 6, 7, 8, 9, 3]]
    assert encode(["a b c d e f"], max_tokens=5).tokens == [[2, 4, 5, 6, 3]]
    assert encode(["a b c d e f"], max_tokens=5, cut="left").tokens == [[2, 7, 8, 9, 3]]
    assert encode([""], max_tokens=5).tokens == [[2, 3]]


def test_decode_names_the_pieces(
    sentencepiece_tokenizer: Tokenizer, huggingface_tokenizer: HuggingFaceTokenizer
) -> None:
    (tokens,) = sentencepiece_tokenizer.encode(["The cat sleeps"], max_tokens=50).tokens
    assert "".join(sentencepiece_tokenizer.decode(tokens)) == "▁The▁cat▁sleeps"
    assert huggingface_tokenizer.decode([2, 4, 3]) == ["[CLS]", "a", "[SEP]"]


def test_pad_masks_what_is_no_token() -> None:
    inputs = pad([[5, 6, 7], [], [8]], padding_id=9)
    np.testing.assert_array_equal(inputs["ids"], [[5, 6, 7], [9, 9, 9], [8, 9, 9]])
    np.testing.assert_array_equal(inputs["mask"], [[1, 1, 1], [0, 0, 0], [1, 0, 0]])


def test_pad_has_a_column_even_without_tokens() -> None:
    assert pad([[]], padding_id=0)["ids"].shape == (1, 1)


@pytest.mark.parametrize("kind", ["sentencepiece", "huggingface"])
def test_file_of_another_kind_is_refused(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "tokenizer"
    path.write_text("not a tokenizer")
    entry = TokenizerEntry.model_validate({"kind": kind, "file": "tokenizer"})
    with pytest.raises(BundleError, match=f"is no {kind} tokenizer"):
        load_tokenizer(entry, path)
