"""The attention GRU decoder against a step-by-step calculation."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from tests.training.transformer_by_hand import Array, gru_step, linear, softmax, weights
from training.data.batches import Sentences
from training.decoders.attention_gru import AttentionGruDecoder
from training.encoders.states import Encoded, States

TARGET = Sentences(torch.tensor([3, 4, 5, 9, 2]), torch.tensor([3, 2]))
MASK = torch.tensor([[True, True, True, True], [True, True, False, False]])


def make() -> AttentionGruDecoder:
    torch.manual_seed(0)
    decoder = AttentionGruDecoder(12, embedding=6, hidden=5, states=7)
    for parameter in decoder.parameters():
        nn.init.normal_(parameter, std=0.5)
    return decoder


def by_hand(decoder: AttentionGruDecoder, states: Array, tokens: list[int]) -> Array:
    """Return the logits [T + 1, V] of one sentence with states [S, C]."""
    rows = np.stack([weights(decoder, "begin"), *weights(decoder, "embedding.weight")[tokens]])
    state = np.tanh(linear(decoder, "initial", states.mean(0)))
    logits = []
    for row in rows:
        between = gru_step(decoder.before, row, state)
        inner = linear(decoder, "attention_keys", states)
        inner = np.tanh(inner + weights(decoder, "attention_state.weight") @ between)
        scores = inner @ weights(decoder, "attention_score.weight")[0]
        context = softmax(scores) @ states
        state = gru_step(decoder.after, context, between)
        read = np.tanh(linear(decoder, "readout", np.concatenate([state, context, row])))
        logits.append(linear(decoder, "output", read))
    return np.array(logits)


def test_logits_are_those_of_single_sentences() -> None:
    decoder, states = make(), torch.randn(2, 4, 7)
    found = decoder(Encoded(torch.zeros(2, 1), States(states, MASK)), TARGET, "de")
    expected = np.concatenate(
        [
            by_hand(decoder, states[row][MASK[row]].double().numpy(), tokens)
            for row, tokens in enumerate(([3, 4, 5], [9, 2]))
        ]
    )
    np.testing.assert_allclose(found.logits.detach().numpy(), expected, atol=1e-5)
    assert found.answers.tolist() == [3, 4, 5, 0, 9, 2, 0]


def test_pads_of_the_source_are_not_seen() -> None:
    decoder, states = make(), torch.randn(2, 4, 7)
    padded = torch.where(MASK[:, :, None], states, 9.0)
    one, another = (
        decoder(Encoded(torch.zeros(2, 1), States(given, MASK)), TARGET, "de").logits
        for given in (states, padded)
    )
    torch.testing.assert_close(one, another)


def test_it_attends_to_states_and_refuses_to_go_without() -> None:
    with pytest.raises(ValueError, match="no states"):
        make()(Encoded(torch.zeros(2, 7)), TARGET, "de")


def test_it_begins_with_the_frequencies_of_tokens() -> None:
    torch.manual_seed(0)
    decoder = AttentionGruDecoder(12, embedding=6, hidden=5, states=7)
    due = torch.rand(12).log_softmax(0)
    decoder.begin_with(due)
    nn.init.zeros_(decoder.output.weight)
    said = decoder(Encoded(torch.zeros(2, 1), States(torch.randn(2, 4, 7), MASK)), TARGET, "de")
    torch.testing.assert_close(said.logits.log_softmax(1), due.expand(7, 12))
    assert decoder.output.bias.requires_grad
