"""The network below the layers learns what it is fitted to."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from service.text.tokenizer import Side, TokenizedTexts, Tokens
from training.encoders.token_network import TokenNetwork, fit_token_network, word_pairs

WIDTH = 8


class Letters:
    """Ids are letters: a is 0."""

    vocabulary_size = 26

    def encode(
        self, texts: Sequence[str], *, max_tokens: int, cut: Side = "right"
    ) -> TokenizedTexts:
        assert cut == "right"
        tokens: list[Tokens] = [
            [ord(letter) - ord("a") for letter in text][:max_tokens] for text in texts
        ]
        return TokenizedTexts(tokens, list(map(len, tokens)))


def test_words_are_the_sums_of_their_pieces() -> None:
    table = torch.randn(26, WIDTH)
    known = torch.randn(5, WIDTH)
    words = ["[PAD]", "cab", "##ab", "straße", "b"]
    inputs, outputs, rows = word_pairs(table, Letters(), words, known)  # type: ignore[arg-type]
    assert rows.tolist() == [1, 4]
    np.testing.assert_allclose(inputs[0], table[2] + table[0] + table[1], atol=1e-6)
    np.testing.assert_allclose(inputs[1], table[1], atol=1e-6)
    assert torch.equal(outputs, known[rows])


def test_it_learns_what_a_word_is_known_by() -> None:
    torch.manual_seed(0)
    inputs = torch.randn(300, WIDTH)
    outputs = torch.tanh(inputs @ torch.randn(WIDTH, WIDTH))
    weights = torch.ones(300)
    network = TokenNetwork(WIDTH, 64)
    little = fit_token_network(network, inputs, outputs, weights, steps=1, batch=64)
    much = fit_token_network(network, inputs, outputs, weights, steps=400, rate=5e-3, batch=64)
    assert little < 0.3
    assert much > 0.8


def test_a_row_of_zeros_gives_numbers_and_gradients() -> None:
    vectors = torch.zeros(1, WIDTH, requires_grad=True)
    network = TokenNetwork(WIDTH, 4)
    network(vectors).sum().backward()
    assert vectors.grad is not None
    assert torch.isfinite(vectors.grad).all()
