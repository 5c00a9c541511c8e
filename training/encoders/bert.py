"""The layers of BERT, apart from what they read.

Devlin et al. 2019 (BERT: Pre-training of Deep Bidirectional Transformers, section 3): as in
Vaswani et al. 2017, with learned positions, a norm after each block, and GELU between the two
layers of the feed-forward part. What stands here takes token vectors in place of ids, so that other
vocabularies can be put below trained layers.

Attention is written out: on a CPU, the backward of the fused kernel takes a third of a step at
sentence length (docs/lab-notes.md).
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

_EPSILON = 1e-12
_BLOCKED = -1e9
"""Added to the score of a pad; its softmax is 0 exactly."""


class BertLayer(nn.Module):
    """Attention and feed-forward, each added to its input and normed.

    Args:
        width: D.
        heads: Of the attention.
        inner: Width between the feed-forward's two layers.
    """

    def __init__(self, width: int, *, heads: int, inner: int) -> None:
        super().__init__()
        self.heads = heads
        self.attention = nn.Linear(width, 3 * width)  # queries, keys and values in one product
        self.attended = nn.Linear(width, width)
        self.attended_norm = nn.LayerNorm(width, eps=_EPSILON)
        self.up = nn.Linear(width, inner)
        self.down = nn.Linear(inner, width)
        self.norm = nn.LayerNorm(width, eps=_EPSILON)

    def forward(self, rows: Tensor, bias: Tensor | None) -> Tensor:
        """Return [B, S, D] of `rows` [B, S, D].

        Args:
            rows: Of any floating type; the products are of the same.
            bias: [B, 1, 1, S], added to the scores; None where there is no pad.
        """
        batch, tokens, width = rows.shape
        joined = _linear(rows, self.attention).view(batch, tokens, 3, self.heads, -1)
        query, key, value = joined.permute(2, 0, 3, 1, 4)  # each [B, H, S, D / H]
        scores = (query * (width // self.heads) ** -0.5) @ key.transpose(-1, -2)
        if bias is not None:
            scores = scores + bias
        attended = (scores.softmax(-1) @ value).transpose(1, 2).reshape(batch, tokens, width)
        rows = _norm(rows + _linear(attended, self.attended), self.attended_norm)
        between = functional.gelu(_linear(rows, self.up))
        return _norm(rows + _linear(between, self.down), self.norm)


class BertBody(nn.Module):
    """Token vectors to token vectors that have seen the others.

    The weights are used in the type of what comes in: float32 weights under bfloat16 rows are
    trained in full precision while the products are fast.

    Args:
        layers: How many.
        width: D.
        heads: Of the attention.
        inner: Width between the feed-forward's two layers.
        longest: Most tokens.
    """

    def __init__(self, *, layers: int, width: int, heads: int, inner: int, longest: int) -> None:
        super().__init__()
        self.places = nn.Parameter(torch.zeros(longest, width))
        self.norm = nn.LayerNorm(width, eps=_EPSILON)
        self.layers = nn.ModuleList(
            BertLayer(width, heads=heads, inner=inner) for _ in range(layers)
        )

    def forward(self, rows: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return states [B, S, D] of `rows` [B, S, D].

        Args:
            rows: Vectors of the tokens, S at most `longest`.
            mask: bool [B, S], False at pads; None where there is none, which is quicker.
        """
        rows = _norm(rows + self.places[: rows.shape[1]].to(rows.dtype), self.norm)
        bias = None
        if mask is not None:
            bias = torch.where(mask, 0.0, _BLOCKED).to(rows.dtype)[:, None, None]
        for layer in self.layers:
            rows = layer(rows, bias)
        return rows


def mean_state(states: Tensor, mask: Tensor) -> Tensor:
    """Return the mean over the tokens, float32 [B, D], of `states` [B, S, D]; zeros for none.

    Args:
        states: Of any floating type.
        mask: bool [B, S], False at pads.
    """
    kept = mask[..., None].float()
    return (states.float() * kept).sum(1) / kept.sum(1).clamp_min(1.0)


def _linear(rows: Tensor, layer: nn.Linear) -> Tensor:
    return functional.linear(rows, layer.weight.to(rows.dtype), layer.bias.to(rows.dtype))


def _norm(rows: Tensor, norm: nn.LayerNorm) -> Tensor:
    weight, bias = norm.weight.to(rows.dtype), norm.bias.to(rows.dtype)
    return functional.layer_norm(rows, norm.normalized_shape, weight, bias, norm.eps)
