"""The pyramid of T-MDE_P against numpy written from Li 2021, eq. 4.8-4.17."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import nn

from tests.training.transformer_by_hand import Array, norm, sinusoids, weights
from tests.training.transformer_by_hand import layer as layer_by_hand
from training.encoders.pyramid import PyramidEncoder
from training.encoders.transformer import (
    TokenEmbedding,
    TransformerEncoder,
    TransformerLayer,
    make_layer,
)

WIDTH, HEADS, LAYERS = 8, 2, 6
LENGTHS = (5, 1, 3)


def one_layer() -> TransformerLayer:
    return make_layer(WIDTH, heads=HEADS, inner=12, dropout=0.2, norm_first=True)


def make(*, layers: int = LAYERS, first_token: bool = True) -> PyramidEncoder:
    torch.manual_seed(0)
    transformer = TransformerEncoder(
        TokenEmbedding(20, WIDTH),
        [one_layer() for _ in range(layers)],
        width=WIDTH,
        dropout=0.2,
        first_token=first_token,
    )
    encoder = PyramidEncoder(transformer, one_layer())
    for parameter in encoder.parameters():
        nn.init.normal_(parameter, std=0.4)
    return encoder.eval()


def rectangle() -> tuple[torch.Tensor, torch.Tensor]:
    ids = torch.randint(0, 20, (3, 5), generator=torch.Generator().manual_seed(1))
    return ids, torch.arange(5) < torch.tensor(LENGTHS)[:, None]


def by_hand(encoder: PyramidEncoder, tokens: list[int]) -> Array:
    """Return P of one sentence."""
    transformer = encoder.transformer

    def apply(module: nn.Module, queries: Array, keys: Array) -> Array:
        return layer_by_hand(module, queries, keys, heads=HEADS, norm_first=True)

    rows = np.stack(
        [weights(transformer, "first"), *weights(transformer, "embedding.table")[tokens]]
    )
    h = [rows * math.sqrt(WIDTH) + sinusoids(len(rows), WIDTH)]  # H^0
    for layer in transformer.layers:
        h.append(apply(layer, h[-1], h[-1]))
    z4 = apply(transformer.layers[4], weights(encoder, "rows"), h[4])
    z5 = apply(transformer.layers[5], z4[:16], z4)
    z6 = apply(encoder.top, z5[:8], z5)
    firsts = np.stack([h[k][0] for k in (6, 5, 4, 3, 2, 1)])
    p = apply(encoder.top, h[6][:1], np.concatenate([firsts, z6]))
    return norm(transformer, "norm", p[0])


def test_the_vector_is_that_of_the_equations() -> None:
    encoder = make()
    ids, mask = rectangle()
    with torch.no_grad():
        states = encoder(ids, mask)
    for row, length in enumerate(LENGTHS):
        expected = by_hand(encoder, ids[row, :length].tolist())
        np.testing.assert_allclose(states.vectors[row, 0].numpy(), expected, atol=1e-4)


def test_the_pyramid_has_32_16_and_8_rows() -> None:
    encoder = make()
    rows, mask = encoder.transformer.embedded(*rectangle())
    steps = encoder.pyramid(encoder.transformer.outputs(rows, mask), mask)
    assert [tuple(step.shape) for step in steps] == [(3, 32, WIDTH), (3, 16, WIDTH), (3, 8, WIDTH)]


def test_pads_never_change_the_vector() -> None:
    encoder = make()
    ids, mask = rectangle()
    with torch.no_grad():
        together = encoder(ids, mask).vectors[:, 0]
        other_pads = encoder(ids.masked_fill(~mask, 3), mask).vectors[:, 0]
        torch.testing.assert_close(together, other_pads)
        for row, length in enumerate(LENGTHS):
            alone = encoder(ids[row : row + 1, :length], mask[row : row + 1, :length])
            torch.testing.assert_close(together[row], alone.vectors[0, 0], atol=1e-5, rtol=0)


def test_rows_share_the_weights_of_the_layers() -> None:
    """Beside a layer more, all that is added is Z itself (Li 2021, section 4.2.2)."""
    encoder = make()
    count = sum(p.numel() for p in encoder.parameters())
    without = sum(p.numel() for p in encoder.transformer.parameters())
    assert count - without == 32 * WIDTH + sum(p.numel() for p in one_layer().parameters())


def test_it_needs_a_first_token_and_rows_to_halve() -> None:
    with pytest.raises(ValueError, match="first token"):
        make(first_token=False)
    with pytest.raises(ValueError, match="two layers"):
        make(layers=1)
    with pytest.raises(ValueError, match="6 rows cannot be halved twice"):
        PyramidEncoder(make().transformer, one_layer(), rows=6)
