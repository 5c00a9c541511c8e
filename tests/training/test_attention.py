"""Multi-head attention against numpy, and what its biases hide."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tests.training.transformer_by_hand import attend
from training.attention import MultiHeadAttention, causal_bias, key_bias

WIDTH, HEADS = 8, 2


def test_against_the_formula_with_keys_of_another_width_and_pads() -> None:
    attention = MultiHeadAttention(WIDTH, HEADS, key_width=5)
    queries, keys = torch.randn(2, 3, WIDTH), torch.randn(2, 4, 5)
    mask = torch.tensor([[True] * 4, [True, True, False, False]])
    found = attention(queries, keys, key_bias(mask)).detach().numpy()
    for row in range(2):
        kept = keys[row][mask[row]].double().numpy()
        expected = attend(attention, queries[row].double().numpy(), kept, heads=HEADS)
        np.testing.assert_allclose(found[row], expected, atol=1e-6)


def test_the_future_is_hidden() -> None:
    attention = MultiHeadAttention(WIDTH, HEADS).eval()
    rows = torch.randn(1, 4, WIDTH)
    bias = causal_bias(4, rows)
    before = attention(rows, rows, bias)
    changed = rows.clone()
    changed[0, 3] += 1
    after = attention(changed, changed, bias)
    torch.testing.assert_close(before[0, :3], after[0, :3])
    assert (before[0, 3] - after[0, 3]).abs().max() > 1e-3


def test_heads_must_divide_the_width() -> None:
    with pytest.raises(ValueError, match="3 heads do not divide a width of 8"):
        MultiHeadAttention(8, 3)
