from __future__ import annotations

import io
from collections.abc import Sequence
from itertools import zip_longest

import numpy as np
import pytest
import sentencepiece
from hypothesis import given
from hypothesis import strategies as st

from service.bundle.manifest import Numbering, TokenizerEntry
from service.text.paired import PairedSentencePiece, side_by_side
from service.text.tokenizer import SentencePieceTokenizer
from tests.tiny_bundle import SENTENCES

ids = st.lists(st.integers(0, 1000), max_size=12)


def trained(pieces: int) -> SentencePieceTokenizer:
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(list(SENTENCES) * 20), model_writer=model, vocab_size=pieces,
        pad_id=0, unk_id=1, bos_id=-1, eos_id=-1, hard_vocab_limit=False, minloglevel=2,
    )  # fmt: skip
    return SentencePieceTokenizer(model.getvalue())


@pytest.fixture(scope="module")
def parts() -> tuple[SentencePieceTokenizer, SentencePieceTokenizer]:
    return trained(200), trained(110)


@pytest.fixture
def paired(parts: Sequence[SentencePieceTokenizer]) -> PairedSentencePiece:
    return PairedSentencePiece(*parts)


@given(ids, ids)
def test_nothing_is_lost_up_to_eight_a_token(first: list[int], second: list[int]) -> None:
    rows = side_by_side(first, second)
    assert rows[:, 0].tolist() == first
    beside = rows[:, 1:].ravel()
    assert beside[beside > 0].tolist() == [id + 1 for id in second[: 8 * len(first)]]


def test_a_token_that_stands_for_a_long_text_has_no_long_row() -> None:
    # Runs of what the first model does not know are one unknown token to it.
    assert side_by_side([1], list(range(100_000))).shape == (1, 9)


def test_both_models_read_the_text(
    paired: PairedSentencePiece, parts: Sequence[SentencePieceTokenizer]
) -> None:
    texts = [*SENTENCES, "", "   "]
    found = paired.encode(texts, max_tokens=100)
    first, second = (part.encode(texts, max_tokens=100) for part in parts)
    assert found.full_lengths == first.full_lengths
    assert [row[:, 0].tolist() for row in map(np.asarray, found.tokens)] == first.tokens
    for row, pieces in zip(map(np.asarray, found.tokens), second.tokens, strict=True):
        assert [int(id) - 1 for id in row[:, 1:].ravel() if id] == pieces
    assert first.tokens != second.tokens
    assert paired.vocabulary_size == parts[0].vocabulary_size
    assert paired.beside_size == parts[1].vocabulary_size + 1


@pytest.mark.parametrize("cut", ["left", "right"])
def test_of_a_cut_text_as_large_a_part_is_kept_of_both(
    paired: PairedSentencePiece, parts: Sequence[SentencePieceTokenizer], cut: str
) -> None:
    text = " ".join(SENTENCES)
    whole = np.asarray(paired.encode([text], max_tokens=10_000).tokens[0])
    half = len(whole) // 2
    found = paired.encode([text], max_tokens=half, cut=cut)  # type: ignore[arg-type]
    assert found.truncated == [0]
    (tokens,) = map(np.asarray, found.tokens)
    assert len(tokens) == half
    (all_beside,) = parts[1].encode([text], max_tokens=10_000).tokens
    beside = [int(id) - 1 for id in tokens[:, 1:].ravel() if id]
    kept = round(len(all_beside) * half / len(whole))
    expected = list(all_beside)[:kept] if cut == "right" else list(all_beside)[-kept:]
    assert beside == expected


def test_a_batch_has_a_feature_axis(paired: PairedSentencePiece) -> None:
    tokens = paired.encode([*SENTENCES, ""], max_tokens=100).tokens
    inputs = paired.collate(tokens)
    assert inputs["ids"].shape[:2] == inputs["mask"].shape
    for row, mask, one in zip(inputs["ids"], inputs["mask"], tokens, strict=True):
        assert mask.sum() == len(one)
        flat = [row[row > 0].tolist() for row in (row, np.asarray(one))]
        assert flat[0] == flat[1]


def test_people_are_shown_the_first(
    paired: PairedSentencePiece, parts: Sequence[SentencePieceTokenizer]
) -> None:
    text = next(iter(SENTENCES))
    (tokens,) = paired.encode([text], max_tokens=100).tokens
    assert paired.pieces(text) == parts[0].pieces(text)
    said = paired.decode(tokens)
    assert said == [piece.text for piece in paired.pieces(text)]
    assert paired.text_of([piece.id for piece in paired.pieces(text)]) == text
    for shown, piece in zip_longest(said, paired.pieces(text, special=False)):
        assert piece is not None
        assert shown == piece.text


@pytest.mark.parametrize(
    "entry",
    [
        {"kind": "huggingface", "file": "tokenizer.json"},
        {"kind": "sentencepiece", "file": "a.model", "numbering": Numbering(offset=1)},
    ],
)
def test_a_second_model_stands_beside_a_plain_first_alone(entry: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="beside"):
        TokenizerEntry.model_validate(entry | {"beside": "b.model"})
