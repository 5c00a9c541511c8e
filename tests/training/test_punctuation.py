"""Punctuation that stands apart, compared with BERT's own pre-tokenizer."""

from __future__ import annotations

import io

import pytest
import sentencepiece
from tokenizers.pre_tokenizers import BertPreTokenizer

from training.punctuation import is_punctuation, rules_with_punctuation_apart

SENTENCES = (
    "don't, said the well-known man (twice): 3.14 is $2!",
    "l'été … «bien» — ça va?",
    "国、日本。 ok",
    "#tag a_b c/d e@f.g 50% x=y~z",
)


@pytest.fixture(scope="module")
def processor(tmp_path_factory: pytest.TempPathFactory) -> sentencepiece.SentencePieceProcessor:
    rules = tmp_path_factory.mktemp("rules") / "rules.tsv"
    rules.write_text(rules_with_punctuation_apart("nmt_nfkc_cf"), encoding="utf-8")
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(SENTENCES * 3),
        model_writer=model,
        vocab_size=100,
        hard_vocab_limit=False,
        normalization_rule_tsv=str(rules),
        minloglevel=2,
    )
    return sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())


def words(processor: sentencepiece.SentencePieceProcessor, text: str) -> list[str]:
    joined = "".join(processor.encode(text, out_type=str))
    return joined.removeprefix("▁").split("▁")


@pytest.mark.parametrize("text", SENTENCES)
def test_words_are_parted_where_bert_parts_them(
    processor: sentencepiece.SentencePieceProcessor, text: str
) -> None:
    unfolded = text.replace("…", "...")  # by NFKC, which the rule has and BERT has not
    expected = [word for word, _ in BertPreTokenizer().pre_tokenize_str(unfolded)]
    assert words(processor, text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ＨＥＬＬＯ， World", ["hello", ",", "world"]),
        ("e\u0301te\u0301", ["été"]),
        ("ｶﾞ", ["ガ"]),
        ("한국어", ["한국어"]),
        ("\u1112\u1161\u11ab", ["한"]),
        ("wait...", ["wait", ".", ".", "."]),
    ],
)
def test_the_rule_below_is_kept(
    processor: sentencepiece.SentencePieceProcessor, text: str, expected: list[str]
) -> None:
    assert words(processor, text) == expected


@pytest.mark.parametrize(
    ("character", "said"), [("$", True), ("，", True), ("€", False), ("a", False), (" ", False)]
)
def test_what_is_punctuation(character: str, said: bool) -> None:
    assert is_punctuation(character) == said
