"""The transformer encoder against numpy written from Vaswani et al. 2017, and against its pads."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import nn

from tests.training.transformer_by_hand import layer as layer_by_hand
from tests.training.transformer_by_hand import norm, sinusoids, weights
from training.encoders.transformer import (
    TokenEmbedding,
    TransformerEncoder,
    make_layer,
    positions,
)

WIDTH, HEADS, INNER, VOCABULARY = 8, 2, 12, 20
LENGTHS = (5, 1, 3)


def make_encoder(*, norm_first: bool, first_token: bool) -> TransformerEncoder:
    torch.manual_seed(3)
    encoder = TransformerEncoder(
        TokenEmbedding(VOCABULARY, WIDTH),
        [
            make_layer(WIDTH, heads=HEADS, inner=INNER, dropout=0.3, norm_first=norm_first)
            for _ in range(2)
        ],
        width=WIDTH,
        dropout=0.3,
        first_token=first_token,
    )
    for parameter in encoder.parameters():  # norms too: 1 and 0 would hide an error
        nn.init.normal_(parameter, std=0.5)
    return encoder.eval()


def rectangle() -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    ids = torch.randint(0, VOCABULARY, (len(LENGTHS), max(LENGTHS)), generator=generator)
    mask = torch.arange(max(LENGTHS)) < torch.tensor(LENGTHS)[:, None]
    return ids, mask


@pytest.mark.parametrize("norm_first", [True, False])
@pytest.mark.parametrize("first_token", [True, False])
def test_states_are_those_of_the_formula(norm_first: bool, first_token: bool) -> None:
    encoder = make_encoder(norm_first=norm_first, first_token=first_token)
    ids, mask = rectangle()
    with torch.no_grad():
        states = encoder(ids, mask)
    for row, length in enumerate(LENGTHS):
        rows = weights(encoder, "embedding.table")[ids[row, :length].numpy()]
        if first_token:
            rows = np.concatenate([weights(encoder, "first")[None], rows])
        expected = rows * math.sqrt(WIDTH) + sinusoids(len(rows), WIDTH)
        for layer in encoder.layers:
            expected = layer_by_hand(layer, expected, expected, heads=HEADS, norm_first=norm_first)
        if norm_first:
            expected = norm(encoder, "norm", expected)
        found = states.vectors[row][states.mask[row]].numpy()
        np.testing.assert_allclose(found, expected, atol=1e-4)


def test_states_agree_with_the_plain_torch_encoder() -> None:
    encoder = make_encoder(norm_first=False, first_token=False)
    reference = nn.TransformerEncoder(
        nn.TransformerEncoderLayer(WIDTH, HEADS, INNER, batch_first=True), 2
    ).eval()
    for ours, theirs in zip(encoder.layers, reference.layers, strict=True):
        attention = ours.get_submodule("attention")
        parts = [attention.get_submodule(name) for name in ("query", "key", "value")]
        copied = {
            "self_attn.in_proj_weight": torch.cat([p.get_parameter("weight") for p in parts]),
            "self_attn.in_proj_bias": torch.cat([p.get_parameter("bias") for p in parts]),
        }
        for theirs_name, ours_name in (
            ("self_attn.out_proj", "attention.result"),
            ("linear1", "feed_forward.up"),
            ("linear2", "feed_forward.down"),
            ("norm1", "attention_norm"),
            ("norm2", "feed_forward_norm"),
        ):
            for kind in ("weight", "bias"):
                copied[f"{theirs_name}.{kind}"] = ours.get_parameter(f"{ours_name}.{kind}")
        theirs.load_state_dict(copied)
    rows, mask = encoder.embedded(*rectangle())
    # With gradients on, torch takes its plain path, whose pads are not packed away.
    expected = reference(rows, src_key_padding_mask=~mask)
    found = encoder(*rectangle()).vectors
    torch.testing.assert_close(found[mask], expected[mask], atol=1e-4, rtol=0)


@pytest.mark.parametrize("first_token", [True, False])
def test_pads_never_change_a_state(first_token: bool) -> None:
    encoder = make_encoder(norm_first=True, first_token=first_token)
    ids, mask = rectangle()
    with torch.no_grad():
        together = encoder(ids, mask)
        other_pads = encoder(ids.masked_fill(~mask, 7), mask)
        for row, length in enumerate(LENGTHS):
            alone = encoder(ids[row : row + 1, :length], mask[row : row + 1, :length])
            kept = together.vectors[row][together.mask[row]]
            torch.testing.assert_close(kept, alone.vectors[0], atol=1e-5, rtol=0)
            torch.testing.assert_close(kept, other_pads.vectors[row][together.mask[row]])


def test_a_sentence_without_tokens_gives_finite_states() -> None:
    encoder = make_encoder(norm_first=True, first_token=True)
    states = encoder(torch.zeros(2, 1, dtype=torch.int64), torch.tensor([[False], [True]]))
    assert states.vectors.isfinite().all()
    assert states.mask.sum(1).tolist() == [1, 2]


def test_positions_have_the_width_asked_for_even_where_it_is_odd() -> None:
    assert positions(7, 3, torch.zeros(1)).shape == (3, 7)
