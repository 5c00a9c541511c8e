"""LSTM encoders against a step-by-step calculation."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.training.lstm_by_hand import run_by_hand
from training.data.batches import Sentences
from training.encoders.recurrent import (
    RecurrentEncoder,
    blstm_layers,
    lstm_layers,
    read_packed,
    read_turned,
    token_vectors,
)


def make(dropout: float = 0.0) -> RecurrentEncoder:
    """Yu's stack in miniature: a BLSTM below an LSTM."""
    torch.manual_seed(0)
    layers = [*blstm_layers(6, 4, 1), *lstm_layers(8, 5, 1)]
    return RecurrentEncoder(token_vectors(20, 6), layers, dropout=dropout).eval()


@settings(deadline=None, max_examples=20)
@given(lengths=st.lists(st.integers(1, 9), min_size=1, max_size=6))
def test_states_of_padded_batches_are_those_of_single_sentences(lengths: list[int]) -> None:
    encoder = make()
    ids = torch.randint(0, 20, (sum(lengths),))
    sentences = Sentences(ids, torch.tensor(lengths))
    padded, mask = sentences.padded(7)
    states = encoder(padded, mask).vectors.detach().numpy()
    table = encoder.embedding.weight.detach().double().numpy()
    for row, tokens in enumerate(torch.split(ids, lengths)):
        expected = table[tokens.numpy()]
        for layer in encoder.layers:
            assert isinstance(layer, torch.nn.LSTM)
            expected = run_by_hand(layer, expected)
        np.testing.assert_allclose(states[row, : lengths[row]], expected, atol=1e-6)
        assert not states[row, lengths[row] :].any()


@pytest.mark.parametrize(
    "layer",
    [
        lstm_layers(6, 5, 1)[0],
        blstm_layers(6, 4, 1)[0],
        torch.nn.GRU(6, 4, batch_first=True),
        torch.nn.GRU(6, 4, batch_first=True, bidirectional=True),
    ],
)
def test_turned_sentences_are_read_as_packed_ones(layer: torch.nn.RNNBase) -> None:
    torch.manual_seed(1)
    lengths = torch.tensor([7, 1, 4, 7, 2])
    real = torch.arange(7) < lengths[:, None]
    found = []
    for read in (read_packed, read_turned):
        rows = torch.linspace(-1, 1, 5 * 7 * 6).reshape(5, 7, 6).sin().requires_grad_()
        states = read(layer, rows, lengths)[real]
        weights = list(layer.parameters())
        found.append([states, *torch.autograd.grad(states.square().sum(), [rows, *weights])])
    for packed, turned in zip(*found, strict=True):
        torch.testing.assert_close(turned, packed, rtol=1e-5, atol=1e-6)


def test_what_a_pad_is_does_not_matter() -> None:
    encoder = make()
    ids, mask = torch.randint(0, 20, (3, 8)), torch.arange(8) < torch.tensor([[8], [3], [0]])
    other = torch.where(mask, ids, torch.full_like(ids, 11))
    one, another = encoder(ids, mask).vectors, encoder(other, mask).vectors
    torch.testing.assert_close(one[mask], another[mask], rtol=0, atol=0)


def test_sizes_of_stacks() -> None:
    assert [(x.input_size, x.hidden_size) for x in lstm_layers(384, 512, 3)] == [
        (384, 512),
        (512, 512),
        (512, 512),
    ]
    assert [(x.input_size, x.bidirectional) for x in blstm_layers(384, 256, 2)] == [
        (384, True),
        (512, True),
    ]


@pytest.mark.parametrize("stack", [lstm_layers, blstm_layers])
def test_a_forget_bias_is_added_to_the_forget_gates_alone(
    stack: Callable[..., list[torch.nn.LSTM]],
) -> None:
    torch.manual_seed(0)
    plain = stack(4, 8, 2)
    torch.manual_seed(0)
    remembering = stack(4, 8, 2, forget_bias=1.0)
    for layer, other in zip(plain, remembering, strict=True):
        for (name, values), changed in zip(
            layer.named_parameters(), other.parameters(), strict=True
        ):
            due = torch.zeros_like(values)
            if name.startswith("bias_ih"):
                due[8:16] = 1.0
            torch.testing.assert_close(changed - values, due)


def test_vertical_dropout_leaves_the_recurrence_alone() -> None:
    """All inputs dropped: every layer sees zeros, but its state still goes from step to step."""
    encoder = make(dropout=1.0)
    encoder.train()
    ids, mask = torch.randint(0, 20, (2, 6)), torch.ones(2, 6, dtype=torch.bool)
    states = encoder(ids, mask).vectors.detach().numpy()
    top = encoder.layers[1]
    assert isinstance(top, torch.nn.LSTM)
    expected = run_by_hand(top, np.zeros((6, 8)))
    np.testing.assert_allclose(states, np.stack([expected, expected]), atol=1e-6)
    assert np.abs(np.diff(expected, axis=0)).max() > 1e-3  # it does change from step to step
