"""The LSTM decoder against a step-by-step calculation."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from tests.training.lstm_by_hand import run_by_hand
from training.data.batches import Sentences
from training.decoders.lstm import LstmDecoder
from training.encoders.recurrent import lstm_layers, token_vectors
from training.encoders.states import Encoded

TARGET = Sentences(torch.tensor([3, 4, 5, 9, 2]), torch.tensor([3, 2]))


def make(*, every_step: bool, dropout: float = 0.0) -> LstmDecoder:
    torch.manual_seed(0)
    return LstmDecoder(
        token_vectors(12, 6),
        lstm_layers(6 + (4 if every_step else 0), 5, 2),
        languages=("en", "de"),
        vector=4,
        every_step=every_step,
        dropout=dropout,
    ).eval()


def by_hand(decoder: LstmDecoder, vector: np.ndarray, tokens: list[int], place: int) -> np.ndarray:
    """Return the logits [T + 1, V] of one sentence."""
    table = decoder.embedding.weight.detach().double().numpy()
    begin = decoder.begin.detach().double().numpy()[place]
    inputs = np.stack([begin, *table[tokens]])
    if decoder.layers[0].input_size == 10:
        inputs = np.concatenate([inputs, np.tile(vector, (len(inputs), 1))], axis=1)
    for layer, initial in zip(decoder.layers, decoder.initial, strict=True):
        assert isinstance(layer, nn.LSTM)
        assert isinstance(initial, nn.Linear)
        state = np.tanh(
            initial.weight.detach().double().numpy() @ vector
            + initial.bias.detach().double().numpy()
        )
        inputs = run_by_hand(layer, inputs, *np.split(state, 2))
    weight = decoder.output.weight.detach().double().numpy()
    logits: np.ndarray = inputs @ weight.T + decoder.output.bias.detach().double().numpy()
    return logits


@pytest.mark.parametrize("every_step", [True, False])
@pytest.mark.parametrize("language", ["en", "de"])
def test_logits_are_those_of_single_sentences(every_step: bool, language: str) -> None:
    decoder = make(every_step=every_step)
    vectors = torch.randn(2, 4)
    found = decoder(Encoded(vectors), TARGET, language)
    place = ("en", "de").index(language)
    expected = np.concatenate(
        [
            by_hand(decoder, vectors[0].double().numpy(), [3, 4, 5], place),
            by_hand(decoder, vectors[1].double().numpy(), [9, 2], place),
        ]
    )
    np.testing.assert_allclose(found.logits.detach().numpy(), expected, atol=1e-5)
    assert found.answers.tolist() == [3, 4, 5, 0, 9, 2, 0]
    assert found.sentences == 2


def test_no_token_sees_itself_or_what_follows() -> None:
    decoder = make(every_step=True)
    vectors = torch.randn(2, 4)
    other = Sentences(torch.tensor([3, 4, 11, 9, 2]), TARGET.lengths)
    one, another = (decoder(Encoded(vectors), t, "en").logits for t in (TARGET, other))
    torch.testing.assert_close(one[:3], another[:3], rtol=0, atol=0)
    assert not torch.allclose(one[3], another[3])


def test_the_target_language_changes_the_first_word() -> None:
    decoder = make(every_step=True)
    vectors = torch.randn(2, 4)
    one, another = (decoder(Encoded(vectors), TARGET, name).logits for name in ("en", "de"))
    assert not torch.allclose(one[0], another[0])


def test_the_sentence_vector_reaches_every_step() -> None:
    """With the state's way cut, only the constant input can carry it."""
    decoder = make(every_step=True)
    for initial in decoder.initial:
        assert isinstance(initial, nn.Linear)
        nn.init.zeros_(initial.weight)
    vectors = torch.randn(2, 4, requires_grad=True)
    decoder(Encoded(vectors), TARGET, "en").logits[2].sum().backward()
    assert vectors.grad is not None
    assert vectors.grad[0].abs().sum() > 0
    assert not vectors.grad[1].any()  # each sentence by its own vector
