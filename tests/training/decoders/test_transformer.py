"""The transformer decoder: against numpy, and what it may see of the sentence."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from tests.training.transformer_by_hand import Array, attend, feed_forward, norm, sinusoids, weights
from training.data.batches import Sentences
from training.decoders.transformer import (
    Memory,
    TransformerDecoder,
    make_decoder_layer,
    sentence_memory,
    states_memory,
)
from training.encoders.states import Encoded, States
from training.encoders.transformer import TokenEmbedding

WIDTH, HEADS, VECTOR = 8, 2, 6
TARGET = Sentences(torch.tensor([3, 4, 5, 9, 2]), torch.tensor([3, 2]))
LANGUAGES = ("en", "es")


def make(memory: Memory) -> TransformerDecoder:
    torch.manual_seed(0)
    layer = make_decoder_layer(WIDTH, heads=HEADS, inner=12, dropout=0.3, vector=VECTOR)
    decoder = TransformerDecoder(
        TokenEmbedding(12, WIDTH), [layer], memory, languages=LANGUAGES, dropout=0.3
    )
    for parameter in decoder.parameters():
        nn.init.normal_(parameter, std=0.5)
    return decoder.eval()


def encoded(*, states: Tensor | None = None) -> Encoded:
    generator = torch.Generator().manual_seed(2)
    vectors = torch.randn(2, 4, VECTOR, generator=generator) if states is None else states
    mask = torch.tensor([[True, True, True, True], [True, True, False, False]])
    return Encoded(vectors[:, 0], States(vectors, mask))


def by_hand(decoder: TransformerDecoder, tokens: list[int], memory: Array, place: int) -> Array:
    """Return the logits [T + 1, V] of one sentence whose memory is [K, VECTOR]."""
    rows = np.stack([weights(decoder, "begin"), *weights(decoder, "embedding.table")[tokens]])
    rows = rows * math.sqrt(WIDTH) + sinusoids(len(rows), WIDTH)
    spoken = np.tile(weights(decoder, "languages")[place], (len(memory), 1))
    keys = np.concatenate([memory, spoken], axis=1)
    layer = decoder.layers[0]
    written, seen = layer.get_submodule("written"), layer.get_submodule("memory")
    asked = norm(layer, "written_norm", rows)
    rows = rows + attend(written, asked, asked, heads=HEADS, causal=True)
    rows = rows + attend(seen, norm(layer, "memory_norm", rows), keys, heads=HEADS)
    rows = rows + feed_forward(layer, "feed_forward", norm(layer, "feed_forward_norm", rows))
    return norm(decoder, "norm", rows) @ weights(decoder, "output.weight").T


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("memory", [sentence_memory, states_memory])
def test_logits_are_those_of_the_formula(memory: Memory, place: int) -> None:
    decoder, given = make(memory), encoded()
    found = decoder(given, TARGET, LANGUAGES[place])
    assert given.states is not None
    kept = 1 if memory is sentence_memory else None
    expected = np.concatenate(
        [
            by_hand(
                decoder,
                tokens,
                given.states.vectors[row][given.states.mask[row]][:kept].double().numpy(),
                place,
            )
            for row, tokens in enumerate(([3, 4, 5], [9, 2]))
        ]
    )
    np.testing.assert_allclose(found.logits.detach().numpy(), expected, atol=1e-4)
    assert found.answers.tolist() == [3, 4, 5, 0, 9, 2, 0]


def perturbed() -> Encoded:
    """The same sentences with every state but the first changed."""
    plain = encoded()
    assert plain.states is not None
    states = plain.states.vectors.clone()
    states[:, 1:] += 3.0
    return encoded(states=states)


def test_t_mde_sees_the_first_position_alone() -> None:
    decoder = make(sentence_memory)
    before, after = (decoder(given, TARGET, "en").logits for given in (encoded(), perturbed()))
    assert torch.equal(before, after)


def test_t_mde_f_sees_the_other_positions_too() -> None:
    decoder = make(states_memory)
    before, after = (decoder(given, TARGET, "en").logits for given in (encoded(), perturbed()))
    assert (before - after).abs().max() > 1e-2


@pytest.mark.parametrize("memory", [sentence_memory, states_memory])
def test_both_see_the_first_position(memory: Memory) -> None:
    plain = encoded()
    assert plain.states is not None
    states = plain.states.vectors.clone()
    states[:, 0] += 3.0
    decoder = make(memory)
    before = decoder(plain, TARGET, "en").logits
    after = decoder(encoded(states=states), TARGET, "en").logits
    assert (before - after).abs().max() > 1e-2


def test_pads_of_the_source_are_not_seen() -> None:
    plain = encoded()
    assert plain.states is not None
    states = torch.where(plain.states.mask[:, :, None], plain.states.vectors, 50.0)
    decoder = make(states_memory)
    torch.testing.assert_close(
        decoder(encoded(states=states), TARGET, "en").logits, decoder(plain, TARGET, "en").logits
    )


def test_no_token_sees_itself_or_what_follows() -> None:
    decoder = make(sentence_memory)
    other = Sentences(torch.tensor([3, 4, 11, 9, 2]), TARGET.lengths)
    one, another = (decoder(encoded(), target, "en").logits for target in (TARGET, other))
    torch.testing.assert_close(one[:3], another[:3], rtol=0, atol=0)
    assert not torch.allclose(one[3], another[3])


def test_a_mean_of_sources_cannot_be_attended_to() -> None:
    with pytest.raises(ValueError, match="no states"):
        make(states_memory)(Encoded(torch.zeros(2, VECTOR)), TARGET, "en")
