"""The transformer encoder against numpy written from Vaswani et al. 2017, and against its pads."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
import torch
from torch import nn

from training.attention import MultiHeadAttention, causal_bias
from training.encoders.transformer import (
    TokenEmbedding,
    TransformerEncoder,
    make_layer,
    positions,
)

Array = npt.NDArray[np.float64]
WIDTH, HEADS, INNER, VOCABULARY = 8, 2, 12, 20
LENGTHS = (5, 1, 3)


def _numpy(module: nn.Module, name: str) -> Array:
    array: Array = module.get_parameter(name).detach().numpy().astype(np.float64)
    return array


def _linear(module: nn.Module, name: str, rows: Array) -> Array:
    return rows @ _numpy(module, f"{name}.weight").T + _numpy(module, f"{name}.bias")


def _norm(module: nn.Module, name: str, rows: Array) -> Array:
    centred = rows - rows.mean(-1, keepdims=True)
    scaled = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)
    return scaled * _numpy(module, f"{name}.weight") + _numpy(module, f"{name}.bias")


def attend(module: MultiHeadAttention, queries: Array, keys: Array) -> Array:
    """One sentence, head by head, position by position: queries [Q, D], keys [S, D]."""
    query, key, value = (
        _linear(module, name, rows)
        for name, rows in (("query", queries), ("key", keys), ("value", keys))
    )
    head = query.shape[1] // module.heads
    found = np.zeros_like(query)
    for h in range(module.heads):
        columns = slice(h * head, (h + 1) * head)
        for place in range(len(query)):
            scores = key[:, columns] @ query[place, columns] / math.sqrt(head)
            weights = np.exp(scores - scores.max())
            found[place, columns] = weights @ value[:, columns] / weights.sum()
    return _linear(module, "result", found)


def layer_by_hand(layer: nn.Module, queries: Array, keys: Array, *, norm_first: bool) -> Array:
    attention = layer.get_submodule("attention")
    assert isinstance(attention, MultiHeadAttention)

    def feed_forward(rows: Array) -> Array:
        up = np.maximum(_linear(layer, "feed_forward.up", rows), 0)
        return _linear(layer, "feed_forward.down", up)

    if norm_first:
        seen = _norm(layer, "attention_norm", keys)
        rows = queries + attend(attention, _norm(layer, "attention_norm", queries), seen)
        return rows + feed_forward(_norm(layer, "feed_forward_norm", rows))
    rows = _norm(layer, "attention_norm", queries + attend(attention, queries, keys))
    return _norm(layer, "feed_forward_norm", rows + feed_forward(rows))


def make_encoder(*, norm_first: bool, first_token: bool, layers: int = 2) -> TransformerEncoder:
    torch.manual_seed(3)
    encoder = TransformerEncoder(
        TokenEmbedding(VOCABULARY, WIDTH),
        [
            make_layer(WIDTH, heads=HEADS, inner=INNER, dropout=0.3, norm_first=norm_first)
            for _ in range(layers)
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
        table = _numpy(encoder, "embedding.table")[ids[row, :length].numpy()]
        if first_token:
            table = np.concatenate([_numpy(encoder, "first")[None], table])
        expected = table * math.sqrt(WIDTH)
        for place in range(len(expected)):
            for i in range(WIDTH // 2):
                angle = place / 10000 ** (i / (WIDTH // 2 - 1))
                expected[place, i] += math.sin(angle)
                expected[place, WIDTH // 2 + i] += math.cos(angle)
        for layer in encoder.layers:
            expected = layer_by_hand(layer, expected, expected, norm_first=norm_first)
        if norm_first:
            expected = _norm(encoder, "norm", expected)
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
        weights = {
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
                weights[f"{theirs_name}.{kind}"] = ours.get_parameter(f"{ours_name}.{kind}")
        theirs.load_state_dict(weights)
    ids, mask = rectangle()
    rows, mask = encoder.embedded(ids, mask)
    # With gradients on, torch takes its plain path, whose pads are not packed away.
    expected = reference(rows, src_key_padding_mask=~mask)
    torch.testing.assert_close(encoder(ids, mask).vectors[mask], expected[mask], atol=1e-4, rtol=0)


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


def test_positions_have_the_width_asked_for_even_where_it_is_odd() -> None:
    assert positions(7, 3, torch.zeros(1)).shape == (3, 7)


def test_heads_must_divide_the_width() -> None:
    with pytest.raises(ValueError, match="3 heads do not divide a width of 8"):
        MultiHeadAttention(8, 3)
