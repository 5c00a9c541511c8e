"""BERT's layers, against the same written down in numpy one sentence at a time."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
import torch

from tests.training.transformer_by_hand import linear, softmax, weights
from training.encoders.bert import BertBody, mean_state

HEADS, WIDTH, LAYERS = 4, 16, 2
Array = npt.NDArray[np.float64]


@pytest.fixture(scope="module")
def body() -> BertBody:
    torch.manual_seed(0)
    body = BertBody(layers=LAYERS, width=WIDTH, heads=HEADS, inner=24, longest=12)
    for weight in body.parameters():
        torch.nn.init.normal_(weight, std=0.3)
    return body


def by_hand(body: BertBody, rows: Array) -> Array:
    def norm(name: str, x: Array) -> Array:
        centred = x - x.mean(-1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-12)
        result: Array = scaled * weights(body, f"{name}.weight") + weights(body, f"{name}.bias")
        return result

    x = norm("norm", rows + weights(body, "places")[: len(rows)])
    head = WIDTH // HEADS
    for number in range(LAYERS):
        name = f"layers.{number}"
        query, key, value = np.split(linear(body, f"{name}.attention", x), 3, axis=1)
        found = np.zeros_like(x)
        for h in range(HEADS):
            columns = slice(h * head, (h + 1) * head)
            for place in range(len(x)):
                scores = key[:, columns] @ query[place, columns] / math.sqrt(head)
                found[place, columns] = softmax(scores) @ value[:, columns]
        x = norm(f"{name}.attended_norm", x + linear(body, f"{name}.attended", found))
        up = linear(body, f"{name}.up", x)
        gelu = up * np.vectorize(lambda t: 0.5 * (1 + math.erf(t / math.sqrt(2))))(up)
        x = norm(f"{name}.norm", x + linear(body, f"{name}.down", gelu))
    return x


def test_it_computes_what_the_formulas_say(body: BertBody) -> None:
    rows = torch.randn(1, 7, WIDTH)
    expected = by_hand(body, rows[0].numpy().astype(np.float64))
    np.testing.assert_allclose(body(rows)[0].detach(), expected, atol=1e-4)


def test_pads_change_nothing(body: BertBody) -> None:
    rows = torch.randn(2, 7, WIDTH)
    mask = torch.tensor([[True] * 7, [True] * 3 + [False] * 4])
    with torch.inference_mode():
        together = mean_state(body(rows, mask), mask)
        alone = mean_state(body(rows[1:, :3]), mask[1:, :3])
        assert torch.equal(body(rows), body(rows, torch.ones(2, 7, dtype=torch.bool)))
    np.testing.assert_allclose(together[1], alone[0], atol=1e-5)


def test_weights_are_used_in_the_type_of_the_rows(body: BertBody) -> None:
    states = body(torch.randn(1, 5, WIDTH).bfloat16())
    assert states.dtype == torch.bfloat16
    states.float().sum().backward()
    assert body.places.dtype == torch.float32
    assert body.places.grad is not None
    assert body.places.grad.dtype == torch.float32


def test_a_sentence_without_tokens_has_a_mean_of_zeros() -> None:
    states, mask = torch.ones(1, 3, WIDTH), torch.zeros(1, 3, dtype=torch.bool)
    assert torch.equal(mean_state(states, mask), torch.zeros(1, WIDTH))
