from __future__ import annotations

from pathlib import Path

import pytest

from service.bundle.manifest import Numbering
from service.text.numbered import NumberedSentencePiece
from service.text.tokenizer import SentencePieceTokenizer

XLMR = Numbering(offset=1, unknown=3, before=(0,), after=(2,))
TEXT = "The cat sleeps."


@pytest.fixture(scope="module")
def pieces(tiny_bundle: Path) -> SentencePieceTokenizer:
    return SentencePieceTokenizer((tiny_bundle / "tokenizer.model").read_bytes())


@pytest.fixture(scope="module")
def xlmr(pieces: SentencePieceTokenizer) -> NumberedSentencePiece:
    return NumberedSentencePiece(pieces, XLMR, padding=1)


def test_fairseqs_numbers(pieces: SentencePieceTokenizer, xlmr: NumberedSentencePiece) -> None:
    (plain,) = pieces.encode([TEXT], max_tokens=64).tokens
    (ids,) = xlmr.encode([TEXT], max_tokens=64).tokens
    assert list(ids) == [0, *(token + 1 for token in plain), 2]
    assert xlmr.vocabulary_size == pieces.vocabulary_size + 1


def test_the_tokens_around_stay_when_a_text_is_cut(xlmr: NumberedSentencePiece) -> None:
    whole = xlmr.encode([TEXT], max_tokens=64)
    for side in ("right", "left"):
        cut = xlmr.encode([TEXT], max_tokens=5, cut=side)
        assert len(cut.tokens[0]) == 5
        assert (cut.tokens[0][0], cut.tokens[0][-1]) == (0, 2)
        assert cut.full_lengths == whole.full_lengths
    assert list(xlmr.encode([TEXT], max_tokens=5).tokens[0])[:4] == list(whole.tokens[0])[:4]


def test_pads_and_the_way_back(xlmr: NumberedSentencePiece) -> None:
    tokens = xlmr.encode([TEXT, ""], max_tokens=64).tokens
    inputs = xlmr.collate(tokens)
    assert list(inputs["ids"][1, :3]) == [0, 2, 1]
    assert inputs["mask"][1].sum() == 2
    assert xlmr.text_of(list(tokens[0])) == TEXT
    shown = xlmr.pieces(TEXT)
    assert [piece.id for piece in shown] == list(tokens[0])
    assert [piece.special for piece in shown][:: len(shown) - 1] == [True, True]
    assert not any(piece.special for piece in xlmr.pieces(TEXT, special=False))
    assert xlmr.decode(tokens[0])[0] == ""


def test_what_has_no_piece_gets_the_models_number_for_it() -> None:
    class Three:
        """The first three pieces of every SentencePiece model of XLM-R's kind."""

        vocabulary_size = 3

        def is_unknown(self, number: int) -> bool:
            return number == 0

    numbered = NumberedSentencePiece(Three(), XLMR, padding=1)  # type: ignore[arg-type]
    assert numbered._ids == [3, 2, 3]
