"""English in the teacher's WordPieces, in a vocabulary of many languages."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sentencepiece import SentencePieceProcessor

from service.errors import InputError
from service.text.tokenizer import SentencePieceTokenizer
from training.data.corpus import Corpus, CorpusPlan, build_corpus
from training.data.folder import open_folder
from training.data.templates import LANGUAGES, write_template_folder
from training.teacher_words import (
    choose_words,
    piece_of,
    put_words_first,
    word_rows,
)
from training.vocabulary import SPECIAL, VocabularyPlan, train_vocabulary

NAMES = ["[PAD]", "[UNK]", "the", "##s", "haus", "'", "naïve", "rare", "house"]
PLAN = VocabularyPlan(pieces=90, sample_characters=20_000, threads=1)
COUNTS = np.array([50, 9, 40, 12, 0, 7, 30, 1, 20])


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    folder = open_folder(write_template_folder(tmp_path_factory.mktemp("data")))
    return build_corpus(folder, CorpusPlan(sources=("template_sentences",), languages=LANGUAGES))


@pytest.fixture(scope="module")
def model(corpus: Corpus) -> bytes:
    return train_vocabulary(corpus, PLAN, ("de", "fr"))


def test_the_most_frequent_in_ascii_are_chosen() -> None:
    assert choose_words(NAMES, COUNTS, 4) == {"▁the": 40, "▁house": 20, "s": 12, "▁'": 7}
    assert piece_of("##ing") == "ing"


def test_more_words_than_occur_are_refused() -> None:
    with pytest.raises(InputError, match="5 occur") as caught:
        choose_words(NAMES, COUNTS, 6)
    assert caught.value.field == "words"


def test_words_stand_in_front_and_are_what_a_text_is_cut_into(model: bytes) -> None:
    words = choose_words(NAMES, COUNTS, 5)
    made = put_words_first(model, words, pieces=80, share=0.25)
    tokenizer = SentencePieceTokenizer(made)
    assert tokenizer.vocabulary_size == 80
    pieces = tokenizer.decode(list(range(80)))
    assert pieces[SPECIAL : SPECIAL + 5] == list(words)
    assert len(set(pieces)) == 80
    (ids,) = tokenizer.encode(["The houses"], max_tokens=9).tokens
    assert tokenizer.decode(ids) == ["▁the", "▁house", "s"]
    rows = word_rows(pieces, NAMES, 5)
    assert [NAMES[row] for row in rows] == ["[PAD]", "[UNK]", "the", "house", "##s", "'", "rare"]


def test_probabilities_are_mixed_by_their_shares(model: bytes) -> None:
    before = SentencePieceProcessor(model_proto=model)
    both = before.id_to_piece(before.get_piece_size() // 2)
    mixed = put_words_first(model, {both: 3, "▁new": 1}, pieces=92, share=0.2)
    after = SentencePieceProcessor(model_proto=mixed)

    def probability(processor: SentencePieceProcessor, piece: str) -> float:
        return math.exp(processor.get_score(processor.piece_to_id(piece)))

    expected = 0.2 * 0.75 + 0.8 * probability(before, both)
    assert probability(after, both) == pytest.approx(expected, rel=1e-5)
    assert probability(after, "▁new") == pytest.approx(0.05, rel=1e-5)
    kept = [before.id_to_piece(i) for i in range(SPECIAL, before.get_piece_size())]
    for piece in set(kept) - {both}:
        assert probability(after, piece) == pytest.approx(
            0.8 * probability(before, piece), rel=1e-5
        )


def test_characters_stay_when_room_is_short(model: bytes) -> None:
    before = SentencePieceProcessor(model_proto=model)
    pieces = [before.id_to_piece(i) for i in range(SPECIAL, before.get_piece_size())]
    characters = [piece for piece in pieces if len(piece) == 1]
    size = SPECIAL + 1 + len(characters) + 2
    after = SentencePieceProcessor(
        model_proto=put_words_first(model, {"▁new": 1}, pieces=size, share=0.5)
    )
    kept = {after.id_to_piece(i) for i in range(size)}
    assert set(characters) < kept
    longer = sorted(
        (p for p in pieces if len(p) > 1), key=lambda p: -before.get_score(before.piece_to_id(p))
    )
    assert set(longer[:2]) < kept
    with pytest.raises(InputError, match="fewer words"):
        put_words_first(model, {"▁new": 1}, pieces=size - 3, share=0.5)
