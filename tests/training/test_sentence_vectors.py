"""Sentence vectors against numpy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import nn

from training.encoders.states import States
from training.sentence_vectors import LastState, MaxPooling, MeanPooling, SelfAttention

LENGTHS = (4, 1, 6, 3)


def make_states(pad: float = 0.0) -> States:
    generator = torch.Generator().manual_seed(1)
    mask = torch.arange(6) < torch.tensor(LENGTHS)[:, None]
    vectors = torch.randn(4, 6, 5, generator=generator) - 3  # all far below the pads' zero
    return States(torch.where(mask[:, :, None], vectors, torch.tensor(pad)), mask)


def by_hand(formula: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    vectors = make_states().vectors.double().numpy()
    return np.stack([formula(vectors[row, :length]) for row, length in enumerate(LENGTHS)])


def attention() -> SelfAttention:
    torch.manual_seed(2)
    return SelfAttention(5, inner=7, hops=2)


def attention_by_hand(tokens: np.ndarray) -> np.ndarray:
    """Lin et al. 2017, eq. 6 and 7."""
    module = attention()
    w1 = module.inner.weight.detach().double().numpy()
    w2 = module.hops.weight.detach().double().numpy()
    scores = w2 @ np.tanh(w1 @ tokens.T)  # [hops, S]
    weights = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
    hops: np.ndarray = weights @ tokens
    return hops.ravel()


CASES = [
    (LastState(), lambda tokens: tokens[-1]),
    (MaxPooling(), lambda tokens: tokens.max(0)),
    (MeanPooling(), lambda tokens: tokens.mean(0)),
    (attention(), attention_by_hand),
]


@pytest.mark.parametrize(("module", "formula"), CASES)
def test_each_is_its_formula(
    module: nn.Module, formula: Callable[[np.ndarray], np.ndarray]
) -> None:
    vectors = module(make_states()).detach().numpy()
    np.testing.assert_allclose(vectors, by_hand(formula), atol=1e-6)


@pytest.mark.parametrize("module", [case[0] for case in CASES])
def test_pads_never_change_a_vector(module: nn.Module) -> None:
    torch.testing.assert_close(module(make_states(0.0)), module(make_states(1e4)), rtol=0, atol=0)


@pytest.mark.parametrize("module", [case[0] for case in CASES])
def test_a_sentence_without_tokens_gives_zeros(module: nn.Module) -> None:
    states = States(torch.randn(2, 3, 5), torch.tensor([[True] * 3, [False] * 3]))
    vectors = module(states)
    assert vectors[0].abs().sum() > 0
    assert torch.equal(vectors[1], torch.zeros_like(vectors[1]))
