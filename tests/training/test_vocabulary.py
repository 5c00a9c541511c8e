"""The vocabulary."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from service.errors import InputError
from service.text.tokenizer import SentencePieceTokenizer
from training.data.corpus import Corpus, CorpusPlan, build_corpus
from training.data.folder import open_folder
from training.data.templates import LANGUAGES, write_template_folder
from training.vocabulary import PADDING_ID, VocabularyPlan, balanced_sample, train_vocabulary

PLAN = VocabularyPlan(pieces=200, sample_characters=20_000, threads=1)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    folder = open_folder(write_template_folder(tmp_path_factory.mktemp("data")))
    return build_corpus(folder, CorpusPlan(sources=("template_sentences",), languages=LANGUAGES))


def test_the_same_seed_gives_the_same_bytes(corpus: Corpus) -> None:
    assert train_vocabulary(corpus, PLAN) == train_vocabulary(corpus, PLAN)


def test_sizes_and_special_ids(corpus: Corpus) -> None:
    tokenizer = SentencePieceTokenizer(train_vocabulary(corpus, PLAN))
    assert tokenizer.vocabulary_size == 200
    (tokens,) = tokenizer.encode(["The teacher sees the house."], max_tokens=64).tokens
    assert tokens
    assert PADDING_ID not in tokens
    folded = tokenizer.encode(["THE TEACHER sees the house."], max_tokens=64).tokens
    assert folded == [tokens]


def test_a_language_has_its_share_of_the_sample(corpus: Corpus) -> None:
    plan = dataclasses.replace(PLAN, sample_characters=8000, temperature=0.0)
    sample = balanced_sample(corpus, plan, LANGUAGES)
    english = {corpus.texts[i] for i in corpus.sentences_of("en")}
    japanese = {corpus.texts[i] for i in corpus.sentences_of("ja")}
    for language in (english, japanese):
        got = sum(len(text) for text in sample if text in language)
        assert 1600 <= got < 1700


def test_a_language_may_weigh_less_in_the_sample(corpus: Corpus) -> None:
    plan = dataclasses.replace(
        PLAN, sample_characters=9000, temperature=0.0, language_weights={"ja": 0.5}
    )
    japanese = {corpus.texts[i] for i in corpus.sentences_of("ja")}
    got = sum(len(text) for text in balanced_sample(corpus, plan, LANGUAGES) if text in japanese)
    assert 1000 <= got < 1100


def test_pieces_may_be_joined_from_the_most_frequent_pairs(corpus: Corpus) -> None:
    joined = train_vocabulary(corpus, dataclasses.replace(PLAN, kind="bpe"))
    assert SentencePieceTokenizer(joined).vocabulary_size == 200
    assert joined != train_vocabulary(corpus, PLAN)


def test_what_stands_in_a_left_out_source_alone_is_not_sampled(corpus: Corpus) -> None:
    source = np.arange(len(corpus.pairs), dtype=np.int16) % 2
    two = dataclasses.replace(corpus, source=source, sources=("sentences", "words"))
    plan = dataclasses.replace(PLAN, sample_characters=10**9, without=("words",))
    kept = {corpus.texts[i] for i in np.unique(corpus.pairs[source == 0])}
    assert set(balanced_sample(two, plan, LANGUAGES)) == kept
    assert len(kept) < len(corpus.texts)


def test_too_many_pieces_are_refused_with_a_remedy(corpus: Corpus) -> None:
    with pytest.raises(InputError, match="Ask for fewer pieces"):
        train_vocabulary(corpus, dataclasses.replace(PLAN, pieces=50_000))
