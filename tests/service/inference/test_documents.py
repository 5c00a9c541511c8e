from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from service.bundle.reader import Bundle
from service.errors import DeadlineError, InputError, TooLargeError
from service.inference.documents import (
    DocumentOptions,
    encode_documents,
    pool_pieces,
    split_documents,
)
from service.inference.encoder import Encoder
from tests.tiny_bundle import MAX_TOKENS

TEXTS = ["The cat sleeps. Fresh bread smells best.", "Rivers carry sand.", ""]


def test_a_document_is_the_mean_or_the_greatest_of_its_sentences(tiny_encoder: Encoder) -> None:
    first, second, third = tiny_encoder.encode(
        ["The cat sleeps.", "Fresh bread smells best.", "Rivers carry sand."], normalize=True
    )
    for pooling, expected in (
        ("mean", (first + second) / 2),
        ("max", np.maximum(first, second)),
    ):
        options = DocumentOptions.model_validate({"pooling": pooling})
        found = encode_documents(tiny_encoder, TEXTS, options)
        assert found.shape == (3, tiny_encoder.dimension)
        np.testing.assert_allclose(found[0], expected / np.linalg.norm(expected), atol=1e-5)
        np.testing.assert_allclose(found[1], third, atol=1e-5)


def test_windows_overlap(tiny_encoder: Encoder) -> None:
    options = DocumentOptions(splitting="windows", window_words=4, stride_words=2)
    split = split_documents(["a b c d e f", "g"], options, encoder=tiny_encoder)
    assert split.texts == ["a b c d", "c d e f", "g"]
    assert split.counts == [2, 1]
    wide = DocumentOptions(splitting="windows", window_words=2, stride_words=3)
    with pytest.raises(InputError):
        split_documents(["a b"], wide, encoder=tiny_encoder)


@pytest.mark.parametrize(
    "options",
    [DocumentOptions(), DocumentOptions(splitting="windows", window_words=1, stride_words=1)],
)
def test_pieces_may_be_bounded(tiny_encoder: Encoder, options: DocumentOptions) -> None:
    texts = ["One.\n\nTwo.", "Three."]
    assert split_documents(texts, options, encoder=tiny_encoder, most=3).counts == [2, 1]
    with pytest.raises(TooLargeError):
        split_documents(texts, options, encoder=tiny_encoder, most=2)


def test_it_may_be_broken_off_between_pieces(tiny_encoder: Encoder) -> None:
    asked = 0

    def check() -> None:
        nonlocal asked
        asked += 1
        if asked > 2:
            raise DeadlineError("Too late.")

    options = DocumentOptions(splitting="windows", window_words=1, stride_words=1)
    with pytest.raises(DeadlineError):
        split_documents(["a b c d"], options, encoder=tiny_encoder, check=check)
    assert asked == 3


@pytest.mark.parametrize("text", ["cat " * 500, "x" * 2000, "猫" * 700])
def test_nothing_is_ever_cut(tiny_encoder: Encoder, text: str) -> None:
    split = split_documents([text], DocumentOptions(), encoder=tiny_encoder)
    tokenizer = tiny_encoder.towers["*"].tokenizer
    assert not tokenizer.encode(split.texts, max_tokens=MAX_TOKENS).truncated
    assert "".join("".join(split.texts).split()) == "".join(text.split())


@pytest.mark.parametrize("prompt", ["Represent this passage: ", "far too long " * MAX_TOKENS])
def test_the_prompt_takes_room_too(tiny_bundle: Path, tiny_encoder: Encoder, prompt: str) -> None:
    text = "cat " * 200
    named = split_documents([text], DocumentOptions(), encoder=tiny_encoder, prefix=prompt)
    manifest = tiny_encoder.manifest.model_copy(
        update={"prompts": {"passage": prompt}, "default_prompt": "passage"}
    )
    prompted = Encoder(Bundle(tiny_bundle, manifest))
    by_default = split_documents([text], DocumentOptions(), encoder=prompted)
    assert named.texts == by_default.texts
    assert len(named.texts) < 20  # a prompt without end does not grind the text to letters
    tokenizer = tiny_encoder.towers["*"].tokenizer
    if len(prompt) < MAX_TOKENS:
        with_prompt = [prompt + piece for piece in named.texts]
        assert not tokenizer.encode(with_prompt, max_tokens=MAX_TOKENS).truncated


def test_a_prompt_that_fills_the_room_is_left_out_of_account(tiny_encoder: Encoder) -> None:
    tokenizer = tiny_encoder.towers["*"].tokenizer
    prompts = ["c" * count for count in range(1, 2 * MAX_TOKENS)]
    lengths = tokenizer.encode(prompts, max_tokens=MAX_TOKENS).full_lengths
    prompt = prompts[lengths.index(MAX_TOKENS)]
    split = split_documents(["cat " * 20], DocumentOptions(), encoder=tiny_encoder, prefix=prompt)
    assert len(split.texts) < 5  # not ground to letters


def test_pieces_of_any_length_count_the_same() -> None:
    vectors = np.array([[10, 0], [0, 1], [3, 4]], dtype=np.float32)
    found = pool_pieces(vectors, [2, 1], "mean")
    np.testing.assert_allclose(found, [[0.5, 0.5], [0.6, 0.8]], atol=1e-6)
