"""LASER's decoder against a step-by-step calculation."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tests.training.lstm_by_hand import run_by_hand
from tests.training.transformer_by_hand import Array, linear, weights
from training.data.batches import Sentences
from training.decoders.laser import LaserDecoder
from training.encoders.states import Encoded

TARGET = Sentences(torch.tensor([3, 4, 5, 9, 2]), torch.tensor([3, 2]))
LANGUAGES = ("en", "es")


def make() -> LaserDecoder:
    torch.manual_seed(0)
    return LaserDecoder(
        12, embedding=6, hidden=5, vector=4, languages=LANGUAGES, dropout=0.3
    ).eval()


def by_hand(decoder: LaserDecoder, vector: Array, tokens: list[int], place: int) -> Array:
    """Return the logits [T + 1, V] of one sentence."""
    rows = np.stack([weights(decoder, "begin"), *weights(decoder, "embedding.weight")[tokens]])
    told = np.concatenate([vector, weights(decoder, "languages")[place]])
    inputs = np.concatenate([rows, np.tile(told, (len(rows), 1))], axis=1)
    hidden, cell = np.split(linear(decoder, "initial", vector), 2)
    return linear(decoder, "output", run_by_hand(decoder.lstm, inputs, hidden, cell))


@pytest.mark.parametrize("place", [0, 1])
def test_logits_are_those_of_single_sentences(place: int) -> None:
    decoder = make()
    vectors = torch.randn(2, 4)
    found = decoder(Encoded(vectors), TARGET, LANGUAGES[place])
    expected = np.concatenate(
        [
            by_hand(decoder, vectors[row].double().numpy(), tokens, place)
            for row, tokens in enumerate(([3, 4, 5], [9, 2]))
        ]
    )
    np.testing.assert_allclose(found.logits.detach().numpy(), expected, atol=1e-5)
    assert found.answers.tolist() == [3, 4, 5, 0, 9, 2, 0]


def test_no_token_sees_itself_or_what_follows() -> None:
    decoder, vectors = make(), torch.randn(2, 4)
    other = Sentences(torch.tensor([3, 4, 11, 9, 2]), TARGET.lengths)
    one, another = (decoder(Encoded(vectors), target, "en").logits for target in (TARGET, other))
    torch.testing.assert_close(one[:3], another[:3], rtol=0, atol=0)
    assert not torch.allclose(one[3], another[3])
